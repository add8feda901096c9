#<if logon>
function Set-Logon {
    # Notes in the marker what happens at each user's next log-on.
    param($Printer)
    $wanted = @{ LogonDefault = ''; LogonSubnets = ''; LogonReset = ''; LogonConnections = '' }
    $texts = @()
    #<if default>
    if ($Printer.HasQueue -and $Printer.SetDefault) {
        $wanted.LogonDefault = $Printer.Name
        $texts += "make $($Printer.Name) the default printer"
        #<if subnets>
        $wanted.LogonSubnets = $Printer.Subnets -join ' '
        #</if>
    }
    #</if>
    #<if reset>
    if ($Printer.HasQueue -and $Printer.ResetUserPreferences) {
        $wanted.LogonReset = $Printer.Revision
        $texts += "drop users' own preferences of $($Printer.Name)"
    }
    #</if>
    #<if connections>
    $connections = @($Printer.Replaces -like '\\*')
    $wanted.LogonConnections = $connections -join '|'
    if ($connections.Count -gt 0) { $texts += "remove $($connections -join ', ')" }
    #</if>
    if ($texts.Count -eq 0) {
        if (-not $WhatIfPreference) { Remove-Logon $Printer }
        return
    }
    $marker = Get-MarkerPath $Printer
    $changed = @($wanted.Keys | Sort-Object | Where-Object { [string](Get-RegistryValue $marker $_) -cne $wanted[$_] })
    if ($changed.Count -eq 0 -and (Test-LogonScript)) { return }
    $what = "$($texts -join ', ') at log-on"
    if (-not (Confirm-Change $what)) { return }
    # The values come last: after an interrupted run, the next one does all of it again.
    Copy-FormerLogon $Printer
    Register-Logon
    $null = Get-LogonSince $Printer
    foreach ($name in $changed) {
        if ($wanted[$name]) { Set-RegistryValue $marker $name $wanted[$name] } else { Remove-RegistryValue $marker $name }
    }
    $names = @(Get-RegistryChild "$RegistryRoot\Printers" | ForEach-Object { $_.Key.GetValueNames() })
    if ($names -notcontains 'LogonSubnets') { Remove-RegistryValue $RunKey 'Platen' }
    Write-Change $what
}

function Copy-FormerLogon {
    # Replaces the components of an earlier version of Platen. The marker keeps what each of them was for.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    $former = @{ Default = '', 'Queue'; Reset = '-reset', 'PreferencesReset'; Connections = '-connections', 'Connections' }
    foreach ($task in $former.Keys) {
        $suffix, $name = $former[$task]
        $component = "$ComponentsKey\Platen-$($Printer.Id)$suffix"
        if (-not (Test-Path -LiteralPath $component)) { continue }
        Set-RegistryValue $marker "Former$task" ([string](Get-RegistryValue $marker $name))
        Remove-RegistryKey $component
    }
}

function Test-LogonScript {
    # Whether the component and this version of its script are in place.
    return (Test-Path -LiteralPath "$ComponentsKey\Platen") -and (Test-Path -LiteralPath $LogonPath) -and
    (Get-Content -LiteralPath $LogonPath -Raw) -ceq $LogonScript
}

function Register-Logon {
    # Only administrators can write to the folder. With a new version, Active Setup runs the script for every user again.
    $null = New-Item -ItemType Directory -Path (Split-Path -Path $LogonPath -Parent) -Force
    Set-Content -LiteralPath $LogonPath -Value $LogonScript -Encoding ASCII -NoNewline
    $command = "$env:windir\System32\WindowsPowerShell\v1.0\powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden " +
    "-ExecutionPolicy Bypass -File `"$LogonPath`""
    Set-RegistryValue "$ComponentsKey\Platen" 'StubPath' $command
    Set-RegistryValue "$ComponentsKey\Platen" 'Version' ([datetime]::UtcNow.ToString('yyyy,MMdd,HHmm,ss', [Globalization.CultureInfo]::InvariantCulture))
    #<if default>
    #<if subnets>
    Set-RegistryValue $RunKey 'Platen' "$command -AtEveryLogon"
    #</if>
    #</if>
}

function Get-LogonSince {
    # When log-on was set up for this printer. Users do everything again after an uninstallation.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    $since = Get-RegistryValue $marker 'LogonSince'
    if ($since) { return $since }
    $since = [datetime]::UtcNow.ToString('s', [Globalization.CultureInfo]::InvariantCulture)
    Set-RegistryValue $marker 'LogonSince' $since
    return $since
}

#<if default|reset>
function Set-UserRecord {
    # Notes that a user who is logged on needs no more of a task. If this fails, the user does it again at log-on.
    param($Printer, [string]$Sid, [string]$Task, [string]$Value)
    try { Set-RegistryValue "Registry::HKEY_USERS\$Sid\Software\Platen\$($Printer.Id)" $Task "$(Get-LogonSince $Printer) $Value" }
    catch { Write-Log $_.Exception.Message }
}
#</if>

# The script for log-on.
$LogonScript = @'
#<logon-script>
#</logon-script>
'@
#</if>

#<if default|connections>
function Get-UserDevice {
    # The form is <queue>,winspool,NeNN: and the user's list of devices has the NeNN: if the user has seen the queue.
    param($Printer, [string]$Path)
    $port = Get-RegistryValue "$Path\Devices" $Printer.Name
    if (-not $port) { $port = 'winspool,Ne00:' }
    return "$($Printer.Name),$port"
}
#</if>
