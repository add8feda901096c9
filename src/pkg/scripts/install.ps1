<#
.SYNOPSIS
Installs printers with their drivers and ports, and repairs what has drifted.

.DESCRIPTION
Made by Platen. Everything that differs from one printer to the next stands in the settings below; the
rest is the same in every script. Run it as SYSTEM or as an administrator, with Windows PowerShell 5.1.
A second run changes nothing. An interrupted run is healed by the next one.

What it does, in this order: checks the machine, then for each printer its driver, port, queue,
preferences, old queues, default printer, and last of all the marker that detection compares.

Exit codes:
0     installed, or nothing to do
3010  installed; Windows wants a restart
1641  installed; Windows is restarting
1618  busy: the spooler or another installation is in the way; try again later
1603  failed; the last line says why

.PARAMETER LogPath
The log file. Without it: Intune's log folder where there is one, else %ProgramData%\Platen\Logs.

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1

.EXAMPLE
powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\install.ps1 -WhatIf
Says what it would do, and does nothing.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

#<settings>
$Settings = @{}
#</settings>

#<common>
#</common>

#region Checks before anything is touched

function Test-ProtectedPrint {
    # Windows protected print mode takes no third-party driver at all.
    $path = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\WPP'
    foreach ($name in 'WindowsProtectedPrintGroupPolicyState', 'WindowsProtectedPrintMode') {
        if ((Get-RegistryValue -Path $path -Name $name) -eq 1) { return $true }
    }
    return $false
}

function Assert-Machine {
    # Ends the work on a printer whose driver this machine cannot take.
    param($Driver)
    if (Test-ProtectedPrint) {
        Stop-Run -Message ('Windows protected print mode is on: this machine takes no printer driver. ' +
            'Switch the mode off by policy, or use the IPP class driver.')
    }
    $machine = Get-MachineArchitecture
    if ($Driver.Architectures -notcontains $machine) {
        Stop-Run -Message "This machine is $machine; the driver is made for $($Driver.Architectures -join ', ')."
    }
}

#endregion

#region Driver

function Invoke-PnpUtil {
    # Stages a driver package. Its text is translated: only the exit code and oemNN.inf mean anything.
    param([string]$InfPath)
    $ErrorActionPreference = 'Continue'
    $output = & "$env:windir\System32\pnputil.exe" /add-driver $InfPath /install 2>&1
    return @{ Code = $LASTEXITCODE; Text = ($output | Out-String) }
}

function Get-DriverFolder {
    # The driver's files: beside this script, or downloaded and unpacked into a folder of its own.
    param($Driver)
    if ($PSScriptRoot) {
        $beside = "$PSScriptRoot\$($Driver.Folder)"
        if (Test-Path -LiteralPath "$beside\$($Driver.Inf)" -PathType Leaf) { return $beside }
    }
    if (-not $Driver.Download) {
        Stop-Run -Message "The driver's files are missing: expected $($Driver.Inf) in the folder $($Driver.Folder) beside this script."
    }
    return Save-Driver -Driver $Driver
}

function Save-Driver {
    param($Driver)
    $folder = [IO.Path]::Combine([IO.Path]::GetTempPath(), 'platen-' + [guid]::NewGuid().ToString('N'))
    $null = [IO.Directory]::CreateDirectory($folder)
    $script:TemporaryFolders += $folder
    $archive = [IO.Path]::Combine($folder, 'driver.zip')
    Write-Log -Message "Downloading $($Driver.Download)"
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $proxy = [Net.WebRequest]::DefaultWebProxy
    if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    try {
        $null = Invoke-WebRequest -Uri $Driver.Download -OutFile $archive -UseBasicParsing -TimeoutSec 1200
    }
    catch {
        Stop-Run -Message "The driver could not be downloaded from $($Driver.Download): $($_.Exception.Message)"
    }
    $found = (Get-FileHash -LiteralPath $archive -Algorithm SHA256).Hash
    if ($found -ne $Driver.FilesSha256) {
        Stop-Run -Message "The downloaded driver is not the expected one: its SHA-256 is $found, not $($Driver.FilesSha256)."
    }
    Add-Type -AssemblyName 'System.IO.Compression.FileSystem'
    $target = [IO.Path]::Combine($folder, 'driver')
    [IO.Compression.ZipFile]::ExtractToDirectory($archive, $target, [Text.Encoding]::UTF8)
    return $target
}

function Get-CatalogSigner {
    # The certificate that signed a catalog; $null where it is not signed.
    param([string]$Path)
    $signature = Get-AuthenticodeSignature -FilePath $Path
    return $signature.SignerCertificate
}

function Open-PublisherStore {
    # The machine's trusted publishers, never its roots.
    param([string]$Mode)
    $store = New-Object -TypeName Security.Cryptography.X509Certificates.X509Store -ArgumentList 'TrustedPublisher', 'LocalMachine'
    $store.Open($Mode)
    return $store
}

function Test-TrustedPublisher {
    param([string]$Thumbprint)
    $store = Open-PublisherStore -Mode 'ReadOnly'
    try {
        return @($store.Certificates | Where-Object -FilterScript { $_.Thumbprint -eq $Thumbprint }).Count -gt 0
    }
    finally {
        $store.Close()
    }
}

function Add-TrustedPublisher {
    param($Certificate)
    $store = Open-PublisherStore -Mode 'ReadWrite'
    try {
        $store.Add($Certificate)
    }
    finally {
        $store.Close()
    }
}

function Import-Publisher {
    # Opt-in, per driver: lets Windows take the package without asking, which nobody could answer. Written down
    # before it is done, so that a broken-off run is still known to have done it.
    param($Driver, [string]$Folder)
    $memory = "$script:MarkerRoot\Publishers\$($Driver.Sha256)"
    foreach ($catalog in $Driver.Catalogs) {
        $signer = Get-CatalogSigner -Path "$Folder\$catalog"
        if ($null -eq $signer) {
            Write-Log -Message "Warning: $catalog is not signed; no publisher was trusted."
            continue
        }
        $isOurs = (Get-RegistryValue -Path $memory -Name $signer.Thumbprint) -eq 'added'
        if (-not $isOurs -and (Test-TrustedPublisher -Thumbprint $signer.Thumbprint)) {
            $null = Set-RegistryValue -Path $memory -Name $signer.Thumbprint -Value 'was there'
            continue
        }
        $null = Set-RegistryValue -Path $memory -Name $signer.Thumbprint -Value 'added'
        Add-TrustedPublisher -Certificate $signer
        Write-Change -Message "trusted publisher $($signer.Subject) ($($signer.Thumbprint)) added"
    }
}

function Add-DriverPackage {
    # Stages the package in Windows' driver store, once a run.
    param($Driver)
    if ($script:Staged.ContainsKey($Driver.Key)) { return }
    $folder = Get-DriverFolder -Driver $Driver
    if ($Driver.TrustPublisher) { Import-Publisher -Driver $Driver -Folder $folder }
    $result = Invoke-PnpUtil -InfPath "$folder\$($Driver.Inf)"
    Write-Log -Message "pnputil answered $($result.Code): $($result.Text)"
    switch ($result.Code) {
        0 { break }
        259 { break }
        3010 { if ($script:RebootCode -eq 0) { $script:RebootCode = 3010 }; break }
        1641 { $script:RebootCode = 1641; break }
        1618 { Stop-Run -Code 1618 -Message 'Windows is busy with another installation. Try again later.' }
        5 { Stop-Run -Message 'Windows refused the driver package (5): the rights are not enough.' }
        2 { Stop-Run -Message "Windows did not find the driver's INF (2): $($Driver.Inf)." }
        default {
            $why = @{
                -536870353  = 'the package has no catalog (0xE000022F)'
                -2146762487 = 'its signature ends at a root that is not trusted (0x800B0109)'
                -536870334  = 'its publisher is not trusted (0xE0000242); allow "trust publisher" for this driver'
                -2146762496 = 'it is not signed (0x800B0100)'
                -2146762495 = 'its signature has expired (0x800B0101)'
            }[[int]$result.Code]
            if (-not $why) { $why = 'see the log' }
            Stop-Run -Message "Windows refused the driver package (pnputil $($result.Code)): $why."
        }
    }
    $script:Staged[$Driver.Key] = $true
    Write-Change -Message "driver package $($Driver.Inf) $($Driver.Version) staged"
}

function Find-StoreInf {
    # Copies of the driver's INF in the driver store, the newest first; other paths Add-PrinterDriver refuses.
    param($Driver)
    $name = $Driver.Inf.Substring($Driver.Inf.LastIndexOf('\') + 1)
    $store = "$env:windir\System32\DriverStore\FileRepository"
    $folders = @(Get-ChildItem -LiteralPath $store -Filter "$name*" -ErrorAction SilentlyContinue)
    foreach ($folder in @($folders | Sort-Object -Property LastWriteTime -Descending)) { "$($folder.FullName)\$name" }
}

function Add-DriverByName {
    # Whether Windows has the driver now, in this version or a newer one.
    param($Printer, $Driver, [string]$InfPath = '')
    try {
        if ($InfPath) {
            Invoke-Print -Command { Add-PrinterDriver -Name $Printer.DriverName -InfPath $InfPath -ErrorAction Stop }
        }
        else {
            Invoke-Print -Command { Add-PrinterDriver -Name $Printer.DriverName -ErrorAction Stop }
        }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq 1618) { throw }
        $script:DriverError = $_.Exception.Message
        Write-Log -Message "Add-PrinterDriver $InfPath failed ($(Get-ErrorCode -ErrorRecord $_)): $($_.Exception.Message)"
    }
    return Test-Driver -Printer $Printer -Driver $Driver
}

function Test-Driver {
    param($Printer, $Driver)
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $Printer.DriverName })) { return $false }
    return Test-DriverCurrent -Installed (Get-DriverVersion -Name $Printer.DriverName) -Driver $Driver
}

function Install-Driver {
    param($Printer, $Driver)
    $installed = Get-DriverVersion -Name $Printer.DriverName
    if (Test-Driver -Printer $Printer -Driver $Driver) {
        Write-Log -Message "Driver $($Printer.DriverName) is there: version $($installed.Version), wanted $($Driver.Version)"
        return
    }
    $what = "driver $($Printer.DriverName) $($Driver.Version)"
    if ($null -ne $installed) { $what = "$what in place of $($installed.Version)" }
    if (-not (Confirm-Change -Message "install $what")) { return }
    Add-DriverPackage -Driver $Driver
    $script:DriverError = 'Windows gave no reason'
    $done = Add-DriverByName -Printer $Printer -Driver $Driver
    foreach ($inf in @(Find-StoreInf -Driver $Driver)) {
        if (-not $done) { $done = Add-DriverByName -Printer $Printer -Driver $Driver -InfPath $inf }
    }
    if (-not $done -and (Restart-Spooler -Because 'the driver is staged but not installed')) {
        $done = Add-DriverByName -Printer $Printer -Driver $Driver
    }
    if (-not $done) {
        Stop-Run -Message "The driver $($Printer.DriverName) was staged, but Windows does not install it: $script:DriverError"
    }
    Write-Change -Message $what
}

#endregion

#region Port

function Get-FreePortName {
    param([string]$Wanted, $Ports)
    for ($i = 2; $i -lt 100; $i++) {
        $name = "${Wanted}_$i"
        if (@($Ports | Where-Object -FilterScript { $_.Name -eq $name }).Count -eq 0) { return $name }
    }
    Stop-Run -Message "No name is free for the port $Wanted."
}

function Add-Port {
    param($Printer, [string]$Name)
    # Written down first: what a broken-off run made is still known to be ours.
    $null = Set-RegistryValue -Path "$script:MarkerRoot\Ports" -Name $Name -Value ([string]$Printer.Id)
    $port = @{ Name = $Name; ErrorAction = 'Stop' }
    if ($Printer.Address) {
        if ($Printer.Protocol -eq 'lpr') {
            $port.LprHostAddress = $Printer.Address
            $port.LprQueueName = $Printer.LprQueue
            $port.LprByteCounting = $true
        }
        else {
            $port.PrinterHostAddress = $Printer.Address
            $port.PortNumber = $Printer.PortNumber
        }
        if ($Printer.Snmp) {
            $port.SNMP = $Printer.SnmpIndex
            $port.SNMPCommunity = $Printer.SnmpCommunity
        }
    }
    try {
        Invoke-Print -Command { Add-PrinterPort @port }
    }
    catch {
        if ((Get-ErrorCode -ErrorRecord $_) -ne '0x800700b7') { throw }
        Write-Log -Message "Port $Name was made meanwhile."
    }
    $made = Invoke-Print -Command { Get-Port -Name $Name }
    if ($null -eq $made) { Stop-Run -Message "Windows made no port $Name, although it said so." }
    $difference = Get-PortDifference -Port $made -Printer $Printer
    if ($difference) { Stop-Run -Message "Windows made the port $Name, but $difference." }
    Write-Change -Message "port $Name made ($($Printer.Address))"
}

function Install-Port {
    # The name of a port that is right: the queue's own, the wanted one, or a new one. A wrong port that others
    # use is left alone; one that only this queue uses is left behind and taken away when the queue has moved.
    param($Printer, $Queue)
    $ports = @(Invoke-Print -Command { Get-PrinterPort -ErrorAction Stop })
    if ($null -ne $Queue) {
        $current = @($ports | Where-Object -FilterScript { $_.Name -eq $Queue.PortName })
        $isOurs = $Queue.PortName -eq $Printer.PortName -or (Test-PortMade -Name $Queue.PortName)
        if ($current.Count -gt 0 -and $isOurs -and -not (Get-PortDifference -Port $current[0] -Printer $Printer)) {
            return $Queue.PortName
        }
    }
    $wanted = @($ports | Where-Object -FilterScript { $_.Name -eq $Printer.PortName })
    if ($wanted.Count -eq 0) {
        if (Confirm-Change -Message "make port $($Printer.PortName)") { Add-Port -Printer $Printer -Name $Printer.PortName }
        return $Printer.PortName
    }
    $difference = Get-PortDifference -Port $wanted[0] -Printer $Printer
    if (-not $difference) { return $Printer.PortName }
    Write-Log -Message "Port $($Printer.PortName) is there, but $difference."
    $name = Get-FreePortName -Wanted $Printer.PortName -Ports $ports
    if (-not (Confirm-Change -Message "repair port $($Printer.PortName): $difference")) { return $Printer.PortName }
    if (Remove-FreePort -Port $wanted[0]) {
        $name = $Printer.PortName
    }
    elseif (-not (Test-PortForeign -Name $Printer.PortName -Printer $Printer)) {
        # The wrong port goes when this queue has left it.
        Register-Port -Printer $Printer -Name $Printer.PortName
    }
    Add-Port -Printer $Printer -Name $name
    return $name
}

function Test-PortForeign {
    # Whether a queue other than this printer's uses the port.
    param([string]$Name, $Printer)
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.PortName -eq $Name -and $queue.Name -ne $Printer.Name) { return $true }
    }
    return $false
}

function Remove-FreePort {
    # Takes away a wrong port that no queue uses at all; whether it is gone.
    param($Port)
    $users = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | Where-Object -FilterScript { $_.PortName -eq $Port.Name })
    if ($users.Count -gt 0) { return $false }
    try {
        Invoke-Print -Command { Remove-PrinterPort -InputObject $Port -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq 1618) { throw }
        Write-Log -Message "The old port $($Port.Name) is not free: $($_.Exception.Message)"
        return $false
    }
    Write-Change -Message "port $($Port.Name) removed, because it was wrong"
    return $true
}

function Remove-LeftPort {
    # Takes away the ports of this printer that nothing uses any more: those it moved away from, those of the
    # queues it replaced, and what a broken-off run left.
    param($Printer, [string]$Kept)
    $key = Get-Item -LiteralPath "$script:MarkerRoot\Ports" -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($name -eq $Kept -or $key.GetValue($name) -ne [string]$Printer.Id) { continue }
        if (-not (Remove-OwnPort -Name $name)) { Write-Log -Message "Port $name stays for now." }
    }
}

function Register-Port {
    # Makes a TCP/IP port ours, to be taken away as soon as nothing uses it. Written down first: a broken-off
    # run is still known to have meant it.
    param($Printer, [string]$Name)
    $port = Invoke-Print -Command { Get-Port -Name $Name }
    if ($null -eq $port -or -not (Get-Property -InputObject $port -Name 'PrinterHostAddress')) { return }
    if (Test-PortMade -Name $Name) { return }
    $null = Set-RegistryValue -Path "$script:MarkerRoot\Ports" -Name $Name -Value ([string]$Printer.Id)
}

#endregion

#region Queue

function Install-Queue {
    param($Printer, $Queue, [string]$PortName)
    if ($null -eq $Queue) {
        if (-not (Confirm-Change -Message "add queue $($Printer.Name)")) { return }
        Add-Queue -Printer $Printer -PortName $PortName
        return
    }
    $difference = Get-QueueDifference -Queue $Queue -Printer $Printer -PortName $PortName
    if ($difference.Count -eq 0) { return }
    $what = "queue $($Printer.Name): $(@($difference.Keys | Sort-Object) -join ', ')"
    if (-not (Confirm-Change -Message "repair $what")) { return }
    Invoke-Print -Command { Set-Printer -InputObject $Queue -ErrorAction Stop @difference }
    $after = Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }
    if ($null -eq $after) { Stop-Run -Message "The queue $($Printer.Name) went away while it was repaired." }
    $rest = Get-QueueDifference -Queue $after -Printer $Printer -PortName $PortName
    if ($rest.Count -gt 0) {
        Stop-Run -Message "Windows did not take over for the queue $($Printer.Name): $(@($rest.Keys | Sort-Object) -join ', ')."
    }
    foreach ($name in @($difference.Keys | Sort-Object)) {
        Write-Change -Message "queue $($Printer.Name): $name is $($difference[$name]), was $(Get-Property -InputObject $Queue -Name $name)"
    }
}

function Add-Queue {
    # Creates the queue and reads it back: Add-Printer has reported success without one.
    param($Printer, [string]$PortName)
    $queue = @{ Name = $Printer.Name; DriverName = $Printer.DriverName; PortName = $PortName; ErrorAction = 'Stop' }
    if ($Printer.Location) { $queue.Location = $Printer.Location }
    if ($Printer.Comment) { $queue.Comment = $Printer.Comment }
    if ($Printer.Shared) {
        $queue.Shared = $true
        $queue.ShareName = $Printer.ShareName
    }
    for ($try = 1; $try -le 2; $try++) {
        try {
            Invoke-Print -Command { Add-Printer @queue }
        }
        catch {
            if ((Get-ErrorCode -ErrorRecord $_) -ne '0x8007070a') { throw }
            Write-Log -Message "Queue $($Printer.Name) was made meanwhile."
        }
        $isThere = Wait-Until -Seconds 3 -Condition { $null -ne (Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }) }
        if ($isThere) {
            Write-Change -Message "queue $($Printer.Name) added"
            return
        }
        Write-Log -Message "Windows said that it added the queue $($Printer.Name), but it is not there."
    }
    Stop-Run -Message "Windows says that it adds the queue $($Printer.Name), but it is never there."
}

function Set-Preference {
    # Duplex, colour, collate, paper. A driver that refuses is a warning: the printer prints all the same.
    param($Printer)
    $wanted = @{}
    if ($Printer.Duplex) { $wanted.DuplexingMode = $Printer.Duplex }
    if ($null -ne $Printer.Color) { $wanted.Color = $Printer.Color }
    if ($null -ne $Printer.Collate) { $wanted.Collate = $Printer.Collate }
    if ($Printer.PaperSize) { $wanted.PaperSize = $Printer.PaperSize }
    if ($wanted.Count -eq 0) { return }
    try {
        $current = Invoke-Print -Command { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop }
    }
    catch {
        $current = $null
        Write-Log -Message "The preferences of $($Printer.Name) cannot be read: $($_.Exception.Message)"
    }
    foreach ($name in @($wanted.Keys | Sort-Object)) {
        if ($null -ne $current -and [string](Get-Property -InputObject $current -Name $name) -eq [string]$wanted[$name]) { continue }
        if (-not (Confirm-Change -Message "set $name of $($Printer.Name) to $($wanted[$name])")) { continue }
        $one = @{ PrinterName = $Printer.Name; ErrorAction = 'Stop'; $name = $wanted[$name] }
        try {
            Invoke-Print -Command { Set-PrintConfiguration @one }
            $after = Invoke-Print -Command { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop }
            if ([string](Get-Property -InputObject $after -Name $name) -eq [string]$wanted[$name]) {
                Write-Change -Message "$name of $($Printer.Name) is $($wanted[$name])"
            }
            else {
                Add-Remark -Message "the driver ignores $name = $($wanted[$name])"
            }
        }
        catch {
            if ((Get-FailureCode -ErrorRecord $_) -eq 1618) { throw }
            Add-Remark -Message "the driver refuses $name = $($wanted[$name]) ($(Get-ErrorCode -ErrorRecord $_))"
        }
    }
}

#endregion

#region Afterwards: old queues, default printer, marker

function Remove-Replaced {
    # Old queues go, now that the new one is there; the ports that only they used go after them.
    param($Printer)
    $names = @($Printer.Replaces)
    $former = Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Queue'
    if ($former -and ($former -ne $Printer.Name -or -not $Printer.HasQueue)) { $names += $former }
    foreach ($name in $names) {
        $old = Invoke-Print -Command { Get-LocalQueue -Name $name }
        if ($null -eq $old) { continue }
        if (-not (Confirm-Change -Message "remove the old queue $name")) { continue }
        if (-not (Test-PortForeign -Name $old.PortName -Printer $old)) { Register-Port -Printer $Printer -Name $old.PortName }
        if (-not (Remove-Queue -Name $name)) { Add-Remark -Message "the old queue $name goes when its jobs are done" }
    }
}

function Set-DefaultPrinter {
    # The default printer belongs to each user: set in the hives of those who are logged on, and at their next
    # log-on for everybody else (Active Setup runs once a user, as that user). The command holds no name: it
    # reads the marker.
    param($Printer)
    $setup = "HKLM:\SOFTWARE\Microsoft\Active Setup\Installed Components\Platen-$($Printer.Id)"
    if (-not $Printer.SetDefault) {
        if (Test-Path -LiteralPath $setup) {
            if (Confirm-Change -Message 'stop setting the default printer at log-on') {
                Remove-RegistryKey -Path $setup
                Write-Change -Message 'the default printer is no longer set at log-on'
            }
        }
        return
    }
    foreach ($sid in @(Get-LoadedUser)) { Set-UserDefault -Printer $Printer -Sid $sid }
    $command = 'powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command ' +
    "`"`$q=(Get-ItemProperty 'HKLM:\SOFTWARE\Platen\Printers\$($Printer.Id)').Queue;" +
    "Set-ItemProperty 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows' LegacyDefaultPrinterMode 1 -Type DWord;" +
    "(New-Object -ComObject WScript.Network).SetDefaultPrinter(`$q)`""
    $isSame = (Get-RegistryValue -Path $setup -Name 'StubPath') -ceq $command
    $isSame = $isSame -and (Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Queue') -eq $Printer.Name
    if ($isSame -or -not (Confirm-Change -Message "make $($Printer.Name) the default printer at log-on")) { return }
    $null = Set-RegistryValue -Path $setup -Name 'StubPath' -Value $command
    $null = Set-RegistryValue -Path $setup -Name 'Version' -Value ('{0:yyyy,MMdd,HHmm,ss}' -f (Get-Date))
    Write-Change -Message "$($Printer.Name) becomes the default printer at log-on"
}

function Set-UserDefault {
    param($Printer, [string]$Sid)
    $path = "Registry::HKEY_USERS\$Sid\Software\Microsoft\Windows NT\CurrentVersion"
    $device = Get-RegistryValue -Path "$path\Windows" -Name 'Device'
    $mode = Get-RegistryValue -Path "$path\Windows" -Name 'LegacyDefaultPrinterMode'
    if ($mode -eq 1 -and $device -and ([string]$device).StartsWith("$($Printer.Name),", 'OrdinalIgnoreCase')) { return }
    if (-not (Confirm-Change -Message "make $($Printer.Name) the default printer of $Sid")) { return }
    $memory = "$(Get-MarkerPath -Printer $Printer)\Users\$Sid"
    if (-not (Test-Path -LiteralPath $memory)) {
        $null = Set-RegistryValue -Path $memory -Name 'Device' -Value ([string]$device)
        $null = Set-RegistryValue -Path $memory -Name 'LegacyDefaultPrinterMode' -Value ([string]$mode)
    }
    # Device is <queue>,winspool,NeNN: and the NeNN: stands in Devices once the user has seen the queue.
    $port = Get-RegistryValue -Path "$path\Devices" -Name $Printer.Name
    if (-not $port) { $port = 'winspool,Ne00:' }
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'LegacyDefaultPrinterMode' -Value 1 -Type 'DWord'
    $null = Set-RegistryValue -Path "$path\Windows" -Name 'Device' -Value "$($Printer.Name),$port"
    Write-Change -Message "$($Printer.Name) is the default printer of $Sid, was $device"
}

function Set-Marker {
    # What detection compares, written last of all.
    param($Printer, $Driver, [string]$PortName)
    $path = Get-MarkerPath -Printer $Printer
    $values = [ordered]@{
        Queue = ''
        DriverName = $Printer.DriverName
        DriverSha256 = $Driver.Sha256
        PortName = $PortName
        Revision = $Printer.Revision
    }
    if ($Printer.HasQueue) { $values.Queue = $Printer.Name }
    $isNew = $false
    foreach ($name in $values.Keys) {
        if (Set-RegistryValue -Path $path -Name $name -Value $values[$name]) { $isNew = $true }
    }
    if ($isNew) {
        $null = Set-RegistryValue -Path $path -Name 'Deployed' -Value ((Get-Date).ToUniversalTime().ToString('s') + 'Z')
        Write-Change -Message "marker $($Printer.Id) is revision $($Printer.Revision)"
    }
}

#endregion

#region The run

function Confirm-Change {
    # False with -WhatIf: the change is only noted.
    param([string]$Message)
    if (-not $WhatIfPreference) { return $true }
    $script:Plan += $Message
    return $false
}

function Install-Printer {
    param($Printer)
    $driver = @($Settings.Drivers | Where-Object -FilterScript { $_.Key -eq $Printer.DriverKey })[0]
    Write-Log -Message "$($Printer.Name): revision $($Printer.Revision), driver $($Printer.DriverName) $($driver.Version)"
    Assert-Machine -Driver $driver
    Start-Spooler
    Install-Driver -Printer $Printer -Driver $driver
    $portName = ''
    if ($Printer.HasQueue) {
        $queue = Invoke-Print -Command { Get-LocalQueue -Name $Printer.Name }
        $portName = Install-Port -Printer $Printer -Queue $queue
        Install-Queue -Printer $Printer -Queue $queue -PortName $portName
        Set-Preference -Printer $Printer
    }
    Remove-Replaced -Printer $Printer
    if (-not $WhatIfPreference) { Remove-LeftPort -Printer $Printer -Kept $portName }
    if ($Printer.HasQueue) { Set-DefaultPrinter -Printer $Printer }
    if (-not $WhatIfPreference) { Set-Marker -Printer $Printer -Driver $driver -PortName $portName }
}

$native = Get-NativePowerShell
if ($native) {
    $arguments = @('-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', $PSCommandPath)
    if ($LogPath) { $arguments += '-LogPath', $LogPath }
    if ($WhatIfPreference) { $arguments += '-WhatIf' }
    if ($VerbosePreference -eq 'Continue') { $arguments += '-Verbose' }
    & $native @arguments
    exit $LASTEXITCODE
}

$script:Staged = @{}
$script:TemporaryFolders = @()
Open-Log -Path $LogPath -Title 'Installation'
try {
    Invoke-Run -Verb 'Installed' -Nothing 'nothing to change' -Work { param($Printer) Install-Printer -Printer $Printer }
}
finally {
    foreach ($folder in $script:TemporaryFolders) {
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue -WhatIf:$false
    }
}
exit $script:ExitCode

#endregion
