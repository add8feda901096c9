# Made by Platen. Active Setup runs this script once for each user, at log-on, after the printers of this machine have
# changed. The Run key runs it with -AtEveryLogon if a default printer depends on the site.
param([switch]$AtEveryLogon, [switch]$Later)

$ErrorActionPreference = 'Stop'
$UserPrinters = 'HKCU:\Software\Microsoft\Windows NT\CurrentVersion\Windows'

function Invoke-Once {
    # Does a task of a printer that this user has not done yet, nor with an earlier version of Platen.
    param($Marker, [string]$Task, [scriptblock]$Work)
    $wanted = [string]$Marker.GetValue("Logon$Task")
    $id = $Marker.PSChildName
    $record = "$($Marker.GetValue('LogonSince')) $wanted"
    if (-not $wanted -or (Get-RegistryValue "HKCU:\Software\Platen\$id" $Task) -eq $record) { return }
    $former = @{ Default = ''; Reset = '-reset'; Connections = '-connections' }[$Task]
    $isDone = [string]$Marker.GetValue("Former$Task") -eq $wanted -and
    (Test-Path -LiteralPath "HKCU:\SOFTWARE\Microsoft\Active Setup\Installed Components\Platen-$id$former")
    if (-not $isDone) { & $Work $wanted }
    Set-RegistryValue "HKCU:\Software\Platen\$id" $Task $record
}

function Set-Default {
    param([string]$Queue)
    Set-RegistryValue $UserPrinters 'LegacyDefaultPrinterMode' 1 'DWord'
    (New-Object -ComObject WScript.Network).SetDefaultPrinter($Queue)
}

function Reset-Preference {
    # Removes what the user has set for the queue.
    param([string]$Queue)
    foreach ($key in 'HKCU:\Printers\DevModePerUser', 'HKCU:\Printers\DevModes2') {
        foreach ($name in $Queue, "\\$env:COMPUTERNAME\$Queue") {
            if ($null -eq (Get-RegistryValue $key $name)) { continue }
            Remove-ItemProperty -LiteralPath $key -Name ([WildcardPattern]::Escape($name)) -Force
        }
    }
}

function Disconnect-Printer {
    # If the connection is the default printer, the queue becomes that.
    param([string]$Name, [string]$Queue)
    $device = [string](Get-RegistryValue $UserPrinters 'Device')
    try { (New-Object -ComObject WScript.Network).RemovePrinterConnection($Name, $true, $true) }
    catch { Write-Verbose $_.Exception.Message }
    if ($Queue -and $device.StartsWith("$Name,", 'OrdinalIgnoreCase')) { Set-Default $Queue }
}

#<script-parts>
#</script-parts>

# The network may come up after the desktop, and so may the spooler.
for ($wait = 0; $AtEveryLogon -and $wait -lt 12 -and @(Get-MachineAddress).Count -eq 0; $wait++) { Start-Sleep -Seconds 5 }
if ($Later) { Start-Sleep -Seconds 20 }
$hasMore = $false
foreach ($marker in @(Get-ChildItem -LiteralPath 'HKLM:\SOFTWARE\Platen\Printers')) {
    if (-not $marker.GetValue('Revision')) { continue }
    $queue = [string]$marker.GetValue('Queue')
    $subnets = [string]$marker.GetValue('LogonSubnets')
    try {
        if ($AtEveryLogon -and $subnets) {
            if (Test-InSubnet $subnets.Split(' ') @(Get-MachineAddress)) { Invoke-Once $marker 'Default' { param($name) Set-Default $name } }
            # Away from the site: the next log-on there sets it again.
            else { Set-RegistryValue "HKCU:\Software\Platen\$($marker.PSChildName)" 'Default' '' }
        }
        if ($AtEveryLogon) { continue }
        if (-not $subnets) { Invoke-Once $marker 'Default' { param($name) Set-Default $name } }
        Invoke-Once $marker 'Reset' { Reset-Preference $queue }
        if ($Later) {
            Invoke-Once $marker 'Connections' { param($names) foreach ($name in $names.Split('|')) { Disconnect-Printer $name $queue } }
        }
        elseif ($marker.GetValue('LogonConnections')) { $hasMore = $true }
    }
    catch { $hasMore = -not $AtEveryLogon }
}
# In a process of its own, because a print server that does not answer must not delay the desktop.
if ($hasMore -and -not $Later) {
    $arguments = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$PSCommandPath`" -Later"
    Start-Process -FilePath "$env:windir\System32\WindowsPowerShell\v1.0\powershell.exe" -ArgumentList $arguments -WindowStyle Hidden
}
