# The PrintManagement cmdlets, on the machine of Windows.psm1.

function ConvertTo-PrinterObject {
    param($Queue, [bool]$IsFull)
    [pscustomobject]@{
        Name = $Queue.Name; DriverName = $Queue.DriverName; PortName = $Queue.PortName
        Location = [string]$Queue.Location; Comment = [string]$Queue.Comment
        Shared = [bool]$Queue.Shared; ShareName = [string]$Queue.ShareName
        Type = $(if ($Queue.Type) { $Queue.Type } else { 'Local' }); JobCount = @($Queue.Jobs).Count
        PrinterStatus = $(if ($Queue.PrinterStatus) { $Queue.PrinterStatus } else { 'Normal' })
        # Windows gives it only with -Full.
        PermissionSDDL = $(if ($IsFull) { [string]$Queue.PermissionSDDL })
    }
}

function Get-Printer {
    [CmdletBinding()] param([switch]$Full, [string]$ComputerName)
    Enter-Call 'Get-Printer'
    $problem = Get-SpoolerError 'Get-Printer'
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    Clear-Pending
    foreach ($queue in $script:M.Queues) {
        if ($queue.Leaving -and -not $script:M.ListLeaving) { continue }
        ConvertTo-PrinterObject $queue $Full
    }
}

function Add-Printer {
    [CmdletBinding(DefaultParameterSetName = 'local')]
    param(
        [Parameter(Mandatory = $true)][string]$Name, [Parameter(ParameterSetName = 'local')][string]$DriverName, [Parameter(ParameterSetName = 'local')][string]$PortName,
        [string]$Location, [string]$Comment, [switch]$Shared, [string]$ShareName
    )
    dynamicparam { if (-not $script:M.WithoutIppUrl) { Get-IppParameter } }
    process {
        Enter-Call 'Add-Printer'
        $problem = Get-SpoolerError 'Add-Printer'
        if (-not $problem -and -not $script:M.Admin) { $problem = New-PrintError '0x80070005' 'Add-Printer' 'Zugriff verweigert' }
        if (-not $problem -and $PSCmdlet.ParameterSetName -eq 'ipp') {
            $code, $text = Add-WindowsIppQueue -Name $Name -Url $PSBoundParameters.IppURL -More $PSBoundParameters
            if (-not $code -and $script:M.DiesAfterAdd) {
                $script:M.DiesAfterAdd = $false
                $script:M.Spooler.Status = 'Stopped'
                $code, $text = '0x800706be', 'Der Remoteprozeduraufruf ist fehlgeschlagen.'
            }
            if ($code) { $PSCmdlet.WriteError((New-PrintError $code 'Add-Printer' $text)) }
            return
        }
        if (-not $problem -and @($script:M.Drivers | Where-Object { $_.Name -eq $DriverName }).Count -eq 0) { $problem = New-PrintError '0x80070705' 'Add-Printer' 'Der angegebene Treiber ist nicht vorhanden.' }
        if (-not $problem -and @($script:M.Ports | Where-Object { $_.Name -eq $PortName }).Count -eq 0) { $problem = New-PrintError '0x80070704' 'Add-Printer' 'Der angegebene Anschluss ist nicht vorhanden.' }
        if (-not $problem -and @($script:M.Queues | Where-Object { $_.Name -eq $Name }).Count -gt 0) { $problem = New-PrintError '0x8007070a' 'Add-Printer' 'Der angegebene Drucker ist bereits vorhanden.' }
        if ($problem) { $PSCmdlet.WriteError($problem); return }
        if ($script:M.SilentAddFailures -gt 0) { $script:M.SilentAddFailures--; return }
        $script:M.Queues += @{
            Name = $Name; DriverName = $DriverName; PortName = $PortName; Location = $Location; Comment = $Comment
            Shared = [bool]$Shared; ShareName = $ShareName; Jobs = @(); Configuration = @{ DuplexingMode = 'OneSided'; Color = $true; Collate = $true; PaperSize = 'Letter' }
        }
    }
}

function Rename-Printer {
    [CmdletBinding()] param($InputObject, [string]$NewName)
    Enter-Call 'Rename-Printer'
    $problem = Get-SpoolerError 'Rename-Printer'
    if (-not $problem -and $script:M.RenameRefused) { $problem = New-PrintError '0x80070032' 'Rename-Printer' 'Die Anforderung wird nicht unterstuetzt.' }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    @($script:M.Queues | Where-Object { $_.Name -eq $InputObject.Name })[0].Name = $NewName
}

function Set-Printer {
    [CmdletBinding()] param($InputObject, [string]$DriverName, [string]$PortName, [string]$Location, [string]$Comment, [bool]$Shared, [string]$ShareName, [string]$PermissionSDDL)
    Enter-Call 'Set-Printer'
    $problem = Get-SpoolerError 'Set-Printer'
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    if ($script:M.IsSetPrinterIgnored) { return }
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $InputObject.Name })[0]
    foreach ($key in @($PSBoundParameters.Keys)) {
        if ($key -in 'DriverName', 'PortName', 'Location', 'Comment', 'Shared', 'ShareName') { $queue[$key] = $PSBoundParameters[$key] }
        # Windows writes rights in its own spelling.
        if ($key -eq 'PermissionSDDL') { $queue[$key] = $PermissionSDDL -replace 'GA', '0xf000c' }
    }
}

function Remove-Printer {
    [CmdletBinding()] param($InputObject)
    Enter-Call 'Remove-Printer'
    $problem = Get-SpoolerError 'Remove-Printer'
    if ($script:M.QueuesLeave) {
        foreach ($each in $script:M.Queues) { $each.Leaving = $true; $each.GoneAt = $script:M.Now + 2000 }
        $problem = New-PrintError '0x80070771' 'Remove-Printer' 'Der Drucker wird bereits geloescht.'
    }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $InputObject.Name })[0]
    $queue.Leaving = $true
    $queue.GoneAt = $script:M.Now + [int]$script:M.LingerMs
    $script:M.BusyUntil = $script:M.Now + [int]$script:M.LingerMs
}

function Get-PrinterPort {
    [CmdletBinding()] param([string]$ComputerName)
    Enter-Call 'Get-PrinterPort'
    $problem = Get-SpoolerError 'Get-PrinterPort'
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    foreach ($port in $script:M.Ports) {
        if ($port.Monitor) { [pscustomobject]@{ Name = $port.Name; Description = 'IPP Port'; PortMonitor = $port.Monitor; PrinterHostAddress = '' }; continue }
        if ($port.WSD) { [pscustomobject]@{ Name = $port.Name; PortMonitor = 'WSD Port Monitor'; DeviceURL = [string]$port.DeviceURL; DeviceUUID = [string]$port.DeviceUUID }; continue }
        if (-not $port.PrinterHostAddress) { [pscustomobject]@{ Name = $port.Name; Description = 'Lokaler Anschluss'; PortMonitor = 'localspl.dll' }; continue }
        [pscustomobject]@{
            Name = $port.Name; PrinterHostAddress = $port.PrinterHostAddress; PortNumber = [uint32]$port.PortNumber; Protocol = [uint32]$port.Protocol
            LprQueueName = [string]$port.LprQueueName; SNMPEnabled = [bool]$port.SNMPEnabled; SNMPCommunity = [string]$port.SNMPCommunity
            SNMPIndex = [uint32]$port.SNMPIndex; PortMonitor = 'TCPMON.DLL'
        }
    }
}

function Add-PrinterPort {
    [CmdletBinding()] param([string]$Name, [string]$PrinterHostAddress, [uint32]$PortNumber = 9100, [string]$LprHostAddress, [string]$LprQueueName, [switch]$LprByteCounting, [uint32]$SNMP, [string]$SNMPCommunity)
    Enter-Call 'Add-PrinterPort'
    $problem = Get-SpoolerError 'Add-PrinterPort'
    if (-not $problem -and -not $script:M.Admin) { $problem = New-PrintError '0x80070005' 'Add-PrinterPort' 'Zugriff verweigert' }
    if (-not $problem -and @($script:M.Ports | Where-Object { $_.Name -eq $Name }).Count -gt 0) { $problem = New-PrintError '0x800700b7' 'Add-PrinterPort' 'Der angegebene Anschluss ist bereits vorhanden.' }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    $port = @{ Name = $Name }
    if ($PrinterHostAddress) { $port.PrinterHostAddress = $PrinterHostAddress; $port.PortNumber = $PortNumber; $port.Protocol = 1 }
    if ($LprHostAddress) { $port.PrinterHostAddress = $LprHostAddress; $port.PortNumber = 515; $port.Protocol = 2; $port.LprQueueName = $LprQueueName }
    if ($PSBoundParameters.ContainsKey('SNMP')) { $port.SNMPEnabled = $true; $port.SNMPIndex = $SNMP; $port.SNMPCommunity = $SNMPCommunity }
    $script:M.Ports += $port
}

function Remove-PrinterPort {
    [CmdletBinding()] param($InputObject)
    Enter-Call 'Remove-PrinterPort'
    $problem = Get-SpoolerError 'Remove-PrinterPort'
    if (-not $problem -and @($script:M.Ports | Where-Object { $_.Name -eq $InputObject.Name -and $_.Monitor }).Count -gt 0) { $problem = New-PrintError '0x80070032' 'Remove-PrinterPort' 'Die Anforderung wird nicht unterstuetzt.' }
    if (-not $problem -and (Test-PortBusy $InputObject.Name)) { $problem = New-PrintError '0x800700aa' 'Remove-PrinterPort' 'Der angegebene Anschluss wird von mindestens einem Drucker verwendet.' }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    $script:M.Ports = @($script:M.Ports | Where-Object { $_.Name -ne $InputObject.Name })
}

function Get-PrinterDriver {
    [CmdletBinding()] param([string]$ComputerName)
    Enter-Call 'Get-PrinterDriver'
    $problem = Get-SpoolerError 'Get-PrinterDriver'
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    foreach ($driver in $script:M.Drivers) {
        $environment = $(if ($driver.Environment) { $driver.Environment } else { $script:Environment[$script:M.Architecture] })
        [pscustomobject]@{ Name = $driver.Name; Manufacturer = [string]$driver.Manufacturer; MajorVersion = 3; DriverVersion = [uint64]0; InfPath = [string]$driver.InfPath; PrinterEnvironment = $environment }
    }
}

function Add-PrinterDriver {
    [CmdletBinding()] param([string]$Name, [string]$InfPath)
    Enter-Call 'Add-PrinterDriver'
    $problem = Get-SpoolerError 'Add-PrinterDriver'
    if (-not $problem -and -not $InfPath -and $script:M.WindowsDrivers -contains $Name) {
        if (@($script:M.Drivers | Where-Object { $_.Name -eq $Name }).Count -eq 0) { $script:M.Drivers += @{ Name = $Name; Version = '10.0.26100.1'; Date = '06/21/2006' } }
        return
    }
    # Only drivers that the INF has for this architecture.
    $found = @($script:M.Store | Where-Object { $_.Names -contains $Name -and (-not $_.Machines -or $_.Machines -contains $script:M.Architecture) } | Sort-Object { [version]$_.Version } -Descending)
    if (-not $problem -and $InfPath -and @($found | Where-Object { $_.StorePath -eq $InfPath }).Count -eq 0) { $problem = New-PrintError '0x80070002' 'Add-PrinterDriver' 'Das System kann die angegebene Datei nicht finden.' }
    if (-not $problem -and ($found.Count -eq 0 -or ($script:M.DriverNeedsInf -and -not $InfPath) -or $script:M.DriverNever)) { $problem = New-PrintError '0x80070705' 'Add-PrinterDriver' 'Der angegebene Treiber ist im Treiberspeicher nicht vorhanden.' }
    $problem = $(if ($problem) { $problem } elseif ($script:M.RefusesVersion -and $found.Count -gt 0 -and $found[0].Version -eq $script:M.RefusesVersion) { New-PrintError '0x80070705' 'Add-PrinterDriver' 'Der Treiber wird nicht installiert.' })
    if ($script:M.DriverNeedsRestart -and $script:M.Restarts -eq 0) { $problem = New-PrintError '0x80070705' 'Add-PrinterDriver' 'Der angegebene Treiber ist im Treiberspeicher nicht vorhanden.' }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    # Windows never replaces a driver by an older one of the same name.
    $installed = @($script:M.Drivers | Where-Object { $_.Name -eq $Name })[0]
    if ($null -ne $installed -and ($installed.Date -as [datetime]) -gt ($found[0].Date -as [datetime])) { return }
    $script:M.Drivers = @($script:M.Drivers | Where-Object { $_.Name -ne $Name }) + @(@{ Name = $Name; Version = $found[0].Version; Date = $found[0].Date; InfPath = $found[0].StorePath.Replace('\', '/') })
    Write-DriverKey -Driver $script:M.Drivers[-1]
}

function Remove-PrinterDriver {
    [CmdletBinding()] param([string]$Name, [switch]$RemoveFromDriverStore)
    Enter-Call 'Remove-PrinterDriver'
    $problem = Get-SpoolerError 'Remove-PrinterDriver'
    Clear-Pending
    $found = @($script:M.Drivers | Where-Object { $_.Name -like $Name })
    foreach ($driver in $found) {
        $isUsed = @($script:M.Queues | Where-Object { $_.DriverName -eq $driver.Name }).Count -gt 0 -or $script:M.Now -lt [int]$script:M.BusyUntil
        if (-not $problem -and $isUsed) { $problem = New-PrintError '0x80070bb9' 'Remove-PrinterDriver' 'Der angegebene Treiber wird von mindestens einem Drucker verwendet.' }
        if (-not $problem -and $RemoveFromDriverStore -and ($script:M.WindowsDrivers -contains $driver.Name -or $driver.Name -eq $script:IppDriver)) { $problem = New-PrintError '0x80070005' 'Remove-PrinterDriver' 'Zugriff verweigert' }
        $otherNames = @($script:M.Store | Where-Object { $_.Names -contains $driver.Name } | ForEach-Object { $_.Names } | Where-Object { $_ -ne $driver.Name })
        $isShared = @($script:M.Drivers | Where-Object { $otherNames -contains $_.Name }).Count -gt 0
        if (-not $problem -and $RemoveFromDriverStore -and $isShared) { $problem = New-PrintError '0x80070bbb' 'Remove-PrinterDriver' 'Ein anderer Treiber verwendet das Paket.' }
        if ($problem) { $PSCmdlet.WriteError($problem); return }
        $script:M.Drivers = @($script:M.Drivers | Where-Object { $_.Name -ne $driver.Name })
        if ($RemoveFromDriverStore) { $script:M.Store = @($script:M.Store | Where-Object { $_.Names -notcontains $driver.Name -or $_.Version -ne $driver.Version }) }
        $root = "$script:PrintRoot\Environments\$($script:Environment[$script:M.Architecture])\Drivers\Version-3"
        $null = [SimRegistry]::Find($root).Children.Remove($driver.Name)
    }
}

function Get-PrintJob {
    [CmdletBinding()] param([string]$PrinterName)
    Enter-Call 'Get-PrintJob'
    if ($script:M.QueuesLeave) { $PSCmdlet.WriteError((New-PrintError '0x80070771' 'Get-PrintJob' 'Der Drucker wird bereits geloescht.')); return }
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $PrinterName })[0]
    if ($script:M.JobsDoneAt -and $script:M.Now -ge $script:M.JobsDoneAt) { $queue.Jobs = @() }
    foreach ($job in @($queue.Jobs)) { ConvertTo-JobObject -Job $job -Queue $queue.Name }
}

function Remove-PrintJob {
    [CmdletBinding()] param($InputObject)
    Enter-Call 'Remove-PrintJob'
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $InputObject.PrinterName })[0]
    if ($script:M.JobsStay) { return }
    if ($script:M.JobsRefused) { $PSCmdlet.WriteError((New-PrintError '0x80070005' 'Remove-PrintJob' 'Zugriff verweigert.')); return }
    $queue.Jobs = @($queue.Jobs | Where-Object { $(if ($_ -is [Collections.IDictionary]) { $_.Id } else { $_ }) -ne $InputObject.Id })
}

function Get-CimInstance {
    [CmdletBinding()] param([string]$ClassName)
    Enter-Call "Get-CimInstance $ClassName"
    foreach ($queue in $script:M.Queues) { [pscustomobject]@{ Name = $queue.Name; KeepPrintedJobs = [bool]$queue.KeepPrintedJobs; EnableDevQueryPrint = [bool]$queue.EnableDevQueryPrint } }
}

function Set-CimInstance {
    [CmdletBinding()] param($InputObject, $Property)
    Enter-Call 'Set-CimInstance'
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $InputObject.Name })[0]
    foreach ($name in @($Property.Keys)) { if ($script:M.Ignores -notcontains $name) { $queue[$name] = $Property[$name] } }
}
