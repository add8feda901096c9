#region What the three scripts share

# One run at a time changes printers on a machine; what may be waited for is bounded everywhere.
$script:MaxWaitForOthersSeconds = 90
$script:MaxWaitForSpoolerSeconds = 20
$script:MarkerRoot = 'HKLM:\SOFTWARE\Platen'
$script:PrintRoot = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print'
$script:Log = $null
$script:Changes = 0
$script:RebootCode = 0
$script:SpoolerRestarted = $false

#region What only Windows can answer, a function each

function Get-NativePowerShell {
    # The 64-bit PowerShell, when this process is a 32-bit one on a 64-bit machine.
    if (-not $env:PROCESSOR_ARCHITEW6432) { return $null }
    return "$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe"
}

function Get-MachineArchitecture {
    # What the machine is, whatever this process is: an x64 process on ARM64 sees itself on x64.
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    $name = Get-RegistryValue -Path $key -Name 'PROCESSOR_ARCHITECTURE'
    if (-not $name) { $name = $env:PROCESSOR_ARCHITECTURE }
    return ([string]$name).ToLowerInvariant()
}

function Test-Administrator {
    $identity = [Security.Principal.WindowsIdentity]::GetCurrent()
    $principal = New-Object -TypeName Security.Principal.WindowsPrincipal -ArgumentList $identity
    return $principal.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
}

function Enter-Exclusive {
    # The lock of this run; $null when another run holds it for too long.
    param([int]$Seconds)
    $mutex = New-Object -TypeName Threading.Mutex -ArgumentList $false, 'Global\Platen'
    try {
        if ($mutex.WaitOne([TimeSpan]::FromSeconds($Seconds))) { return $mutex }
    }
    catch [Threading.AbandonedMutexException] {
        return $mutex
    }
    $mutex.Dispose()
    return $null
}

function Exit-Exclusive {
    param($Mutex)
    $Mutex.ReleaseMutex()
    $Mutex.Dispose()
}

function Get-LoadedUser {
    # Security identifiers of the people whose registry hives are loaded: those who are logged on.
    foreach ($key in @(Get-ChildItem -LiteralPath 'Registry::HKEY_USERS' -ErrorAction SilentlyContinue)) {
        $sid = $key.Name.Substring($key.Name.LastIndexOf('\') + 1)
        if ($sid -match '^S-1-(5-21|12-1)-[0-9-]+$') { $sid }
    }
}

#endregion

#region Registry

function Get-RegistryValue {
    # A value; $null where the key or the value is not there.
    param([string]$Path, [string]$Name)
    $key = Get-Item -LiteralPath $Path -ErrorAction SilentlyContinue
    if ($null -eq $key) { return $null }
    return $key.GetValue($Name)
}

function Get-RegistryChild {
    # The names of a key's subkeys, with whatever characters they have; none where the key is not there.
    param([string]$Path)
    foreach ($key in @(Get-ChildItem -LiteralPath $Path -ErrorAction SilentlyContinue)) {
        $key.Name.Substring($key.Name.LastIndexOf('\') + 1)
    }
}

function Get-DriverVersion {
    # Version and date of an installed driver as its INF gave them; $null where Windows does not say.
    # The key is looked for among its sisters: a driver's name may hold what a path may not.
    param([string]$Name)
    $environment = @{ amd64 = 'Windows x64'; x86 = 'Windows NT x86'; arm64 = 'Windows ARM64' }[(Get-MachineArchitecture)]
    foreach ($version in 'Version-4', 'Version-3') {
        $path = "$script:PrintRoot\Environments\$environment\Drivers\$version"
        foreach ($key in @(Get-ChildItem -LiteralPath $path -ErrorAction SilentlyContinue)) {
            if ($key.Name.Substring($key.Name.LastIndexOf('\') + 1) -ne $Name) { continue }
            return @{ Version = [string]$key.GetValue('DriverVersion'); Date = [string]$key.GetValue('DriverDate') }
        }
    }
    return $null
}

#endregion

#region Comparing

function ConvertTo-SortableDate {
    # mm/dd/yyyy or mm-dd-yyyy, as INF files write it, to a number that sorts; 0 for anything else.
    param([string]$Date)
    if ($Date -notmatch '^\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4})') { return 0 }
    return [int]$Matches[3] * 10000 + [int]$Matches[1] * 100 + [int]$Matches[2]
}

function Compare-DriverVersion {
    # -1, 0 or 1: by date, then by version, as Windows ranks drivers. Parts may go over 65535 or be missing.
    param($Left, $Right)
    $leftDate = ConvertTo-SortableDate -Date $Left.Date
    $rightDate = ConvertTo-SortableDate -Date $Right.Date
    if ($leftDate -ne 0 -and $rightDate -ne 0 -and $leftDate -ne $rightDate) {
        return [Math]::Sign($leftDate - $rightDate)
    }
    $leftParts = @(([string]$Left.Version) -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    $rightParts = @(([string]$Right.Version) -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    for ($i = 0; $i -lt [Math]::Max($leftParts.Count, $rightParts.Count); $i++) {
        $a = [decimal]0
        $b = [decimal]0
        if ($i -lt $leftParts.Count) { $a = [decimal]$leftParts[$i] }
        if ($i -lt $rightParts.Count) { $b = [decimal]$rightParts[$i] }
        if ($a -ne $b) { return [Math]::Sign($a - $b) }
    }
    return 0
}

function Test-DriverCurrent {
    # Whether the installed driver is the wanted one or a newer one.
    param($Installed, $Driver)
    if ($null -eq $Installed) { return $false }
    if (-not $Driver.Version) { return $true }
    if (-not $Installed.Version) { return $false }
    return (Compare-DriverVersion -Left $Installed -Right $Driver) -ge 0
}

function Get-Property {
    # A property that objects of other classes may lack.
    param($InputObject, [string]$Name)
    $property = $InputObject.PSObject.Properties[$Name]
    if ($null -eq $property) { return $null }
    return $property.Value
}

function ConvertTo-PlainAddress {
    # An IP address in its one usual spelling, so that fe80::1 and FE80:0::0001 are the same; names stay.
    param([string]$Address)
    $parsed = $null
    if ([Net.IPAddress]::TryParse($Address, [ref]$parsed)) { return $parsed.ToString() }
    return $Address
}

function Get-PortDifference {
    # The first way in which a port is not as wanted; $null when it is right.
    param($Port, $Printer)
    if (-not $Printer.Address) { return $null }
    $address = [string](Get-Property -InputObject $Port -Name 'PrinterHostAddress')
    if (-not $address) { return 'it is no TCP/IP port' }
    if ((ConvertTo-PlainAddress -Address $address) -ne (ConvertTo-PlainAddress -Address $Printer.Address)) { return "its address is $address, not $($Printer.Address)" }
    $protocol = @{ 1 = 'raw'; 2 = 'lpr' }[[int](Get-Property -InputObject $Port -Name 'Protocol')]
    if ($protocol -ne $Printer.Protocol) { return "its protocol is $protocol, not $($Printer.Protocol)" }
    if ($Printer.Protocol -eq 'lpr') {
        $queue = [string](Get-Property -InputObject $Port -Name 'LprQueueName')
        if ($queue -cne $Printer.LprQueue) { return "its LPR queue is $queue, not $($Printer.LprQueue)" }
    }
    else {
        $number = [int](Get-Property -InputObject $Port -Name 'PortNumber')
        if ($number -ne $Printer.PortNumber) { return "its number is $number, not $($Printer.PortNumber)" }
    }
    $snmp = [bool](Get-Property -InputObject $Port -Name 'SNMPEnabled')
    if ($snmp -ne $Printer.Snmp) { return "its SNMP status is $snmp, not $($Printer.Snmp)" }
    if (-not $snmp) { return $null }
    $community = [string](Get-Property -InputObject $Port -Name 'SNMPCommunity')
    if ($community -cne $Printer.SnmpCommunity) { return 'its SNMP community is another' }
    $index = [int](Get-Property -InputObject $Port -Name 'SNMPIndex')
    if ($index -ne $Printer.SnmpIndex) { return "its SNMP index is $index, not $($Printer.SnmpIndex)" }
    return $null
}

function Get-QueueDifference {
    # The properties of a queue that are not as wanted, as a table for Set-Printer. What an operator left
    # empty is the machine's own business, and so is sharing that was not asked for.
    param($Queue, $Printer, [string]$PortName)
    $difference = @{}
    if ($Queue.DriverName -ne $Printer.DriverName) { $difference.DriverName = $Printer.DriverName }
    if ($PortName -and $Queue.PortName -ne $PortName) { $difference.PortName = $PortName }
    if ($Printer.Location -and $Queue.Location -cne $Printer.Location) { $difference.Location = $Printer.Location }
    if ($Printer.Comment -and $Queue.Comment -cne $Printer.Comment) { $difference.Comment = $Printer.Comment }
    if ($Printer.Shared -and -not $Queue.Shared) { $difference.Shared = $true }
    if ($Printer.Shared -and $Queue.ShareName -ne $Printer.ShareName) {
        $difference.Shared = $true
        $difference.ShareName = $Printer.ShareName
    }
    return $difference
}

#endregion

#region Reading the print subsystem

function Get-LocalQueue {
    # A queue of this machine by its exact name; -Name of Get-Printer takes wildcards, so it is not used.
    param([string]$Name)
    foreach ($queue in @(Get-Printer -ErrorAction Stop)) {
        if ($queue.Name -eq $Name -and [string]$queue.Type -ne 'Connection') { return $queue }
    }
    return $null
}

function Get-Port {
    param([string]$Name)
    foreach ($port in @(Get-PrinterPort -ErrorAction Stop)) {
        if ($port.Name -eq $Name) { return $port }
    }
    return $null
}

function Get-Driver {
    param([string]$Name)
    foreach ($driver in @(Get-PrinterDriver -ErrorAction Stop)) {
        if ($driver.Name -eq $Name) { return $driver }
    }
    return $null
}

function Get-ErrorCode {
    # The HRESULT of a failed cmdlet, such as 0x800706ba; texts are translated, only the code can be trusted.
    param($ErrorRecord)
    if ([string]$ErrorRecord.FullyQualifiedErrorId -match '0x[0-9a-fA-F]{8}') { return $Matches[0].ToLowerInvariant() }
    return ''
}

#endregion

#endregion
