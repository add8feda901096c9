# Replacements that only diagnose.ps1 uses: jobs with their status, the print log, and devices on the network. The
# machine's keys PrintLog and Network describe them. With RealNetwork the script uses the network of this host.

function ConvertTo-JobObject {
    # A job is a number, or a table with its properties.
    param($Job, [string]$Queue)
    if ($Job -isnot [Collections.IDictionary]) { return [pscustomobject]@{ Id = $Job; PrinterName = $Queue } }
    [pscustomobject]@{
        Id = $Job.Id; PrinterName = $Queue; JobStatus = $Job.JobStatus; SubmittedTime = [datetime]::Now.AddMinutes(-[double]$Job.Minutes)
        DocumentName = [string]$Job.DocumentName; UserName = [string]$Job.UserName
    }
}

function Get-WinEvent {
    [CmdletBinding()] param([string[]]$ListLog, [string[]]$LogName, [string]$FilterXPath, [long]$MaxEvents)
    Enter-Call 'Get-WinEvent'
    $log = $script:M.PrintLog
    if ($null -eq $log) {
        $PSCmdlet.WriteError((New-PrintError 'NoMatchingLogsFound' 'Get-WinEvent' 'Es wurde kein Ereignisprotokoll gefunden.'))
        return
    }
    if ($ListLog) { return [pscustomobject]@{ LogName = $ListLog[0]; IsEnabled = [bool]$log.IsEnabled } }
    if ($log.IsDenied) {
        $PSCmdlet.WriteError((New-PrintError '0x80070005' 'Get-WinEvent' 'Es wurde versucht, einen nicht autorisierten Vorgang auszufuehren.'))
        return
    }
    $found = @($log.Events | Where-Object { $_.Id -in 307, 842 -or $_.Level -in 1, 2 } | Sort-Object { [double]$_.Minutes } | Select-Object -First $MaxEvents)
    if ($found.Count -eq 0) {
        $exception = [Exception]::new('Es wurden keine Ereignisse gefunden.')
        $PSCmdlet.WriteError([Management.Automation.ErrorRecord]::new($exception, 'NoMatchingEventsFound,Microsoft.PowerShell.Commands.GetWinEventCommand', 'ObjectNotFound', $null))
        return
    }
    foreach ($record in $found) {
        [pscustomobject]@{
            Id = [int]$record.Id; Level = $record.Level; TimeCreated = [datetime]::Now.AddMinutes(-[double]$record.Minutes)
            Properties = @($record.Values | ForEach-Object { [pscustomobject]@{ Value = $_ } })
        }
    }
}

# These replace the functions that use the network.

function Get-SimulatedHostAddress {
    param([string]$Name, [int]$Milliseconds)
    Enter-Call 'Get-HostAddress'
    $parsed = $null
    if ([Net.IPAddress]::TryParse($Name, [ref]$parsed)) { return $parsed }
    $address = $script:M.Network.Names[$Name]
    if ($address -eq 'silent') { throw [TimeoutException]::new() }
    if (-not $address) { throw [Net.Sockets.SocketException]::new(11001) }
    return [Net.IPAddress]$address
}

function Get-SimulatedTcpAnswer {
    param($Addresses, [int]$Port, [int]$Milliseconds)
    Enter-Call 'Get-TcpAnswer'
    $state = $script:M.Network.Tcp["$($Addresses[0]):$Port"]
    if (-not $state) { $state = 'open' }
    return @{ State = $state; Milliseconds = 3 }
}

function Get-SimulatedIppAnswer {
    param([string]$Url, $Addresses, [int]$Milliseconds)
    Enter-Call 'Get-IppAnswer'
    $answer = @{ Url = $Url; Problem = 'refuses the connection'; Status = ''; Certificate = ''; Attributes = @{} }
    $given = $script:M.Network.Ipp[$Url]
    if ($given) {
        $answer.Problem = ''
        foreach ($key in @($given.Keys)) { $answer[$key] = $given[$key] }
    }
    return $answer
}

function Get-SimulatedSnmpAnswer {
    param($Address, [string]$Community, [int]$Index, [int]$Milliseconds)
    Enter-Call 'Get-SnmpAnswer'
    $given = $script:M.Network.Snmp["$Address"]
    if (-not $given) { return @{ State = 'answers'; DeviceStatus = 2 } }
    if ($given.Community -and $given.Community -cne $Community) { return @{ State = 'silent'; DeviceStatus = 0 } }
    return $given
}

$script:IsNetworkReal = $null

function Set-SimulatedNetwork {
    # The scripts resolve names with a .NET type, which a function cannot replace.
    param([bool]$IsReal)
    [SimDns]::Names.Clear()
    foreach ($name in @($script:M.Network.Names.Keys)) { [SimDns]::Names[$name] = @($script:M.Network.Names[$name]) }
    if ($script:IsNetworkReal -eq $IsReal) { return }
    $script:IsNetworkReal = $IsReal
    $types = [psobject].Assembly.GetType('System.Management.Automation.TypeAccelerators')
    $null = $types::Remove('Net.Dns')
    if (-not $IsReal) { $types::Add('Net.Dns', [SimDns]) }
    foreach ($name in 'HostAddress', 'TcpAnswer', 'IppAnswer', 'SnmpAnswer') {
        if ($IsReal) { Remove-Item -Path "alias:Get-$name" -ErrorAction SilentlyContinue }
        else { Set-Alias -Name "Get-$name" -Value "Get-Simulated$name" -Scope Global }
    }
}
