#region What happens at log-on

function Remove-LogonSetup {
    # Ends what this printer asks for no more.
    param($Printer)
    $wanted = @{
        '' = $Printer.HasQueue -and $Printer.SetDefault
        '-reset' = $Printer.HasQueue -and $Printer.ResetUserPreferences
        '-connections' = @($Printer.Replaces -like '\\*').Count -gt 0
    }
    foreach ($task in $wanted.Keys) {
        $setup = Get-LogonSetupPath $Printer $task
        if ($wanted[$task] -or -not (Test-Path -LiteralPath $setup) -or -not (Confirm-Change "end $setup")) { continue }
        Remove-RegistryKey $setup
        Write-Change "end $setup"
    }
}

#<if default|reset|connections>
function Register-LogonSetup {
    # Lets Active Setup run code once for each user who has not done it, again when it or the marker's value is another.
    # The code holds no text of a setting: it reads the marker.
    param($Printer, [string]$Task, [string]$Code, [string]$What, [string]$Name, [string]$Value, [string[]]$Done)
    $setup = Get-LogonSetupPath $Printer $Task
    $marker = Get-MarkerPath $Printer
    $command = "powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command `"$Code`""
    $isSame = (Get-RegistryValue $setup 'StubPath') -ceq $command -and (Get-RegistryValue $marker $Name) -eq $Value
    $What = "$What at log-on"
    if ($isSame -or -not (Confirm-Change $What)) { return }
    $version = '{0:yyyy,MMdd,HHmm,ss}' -f (Get-Date)
    Set-RegistryValue $setup 'Version' $version
    Set-RegistryValue $setup 'StubPath' $command
    #<if reset>
    # Whoever cannot be noted does it again at log-on.
    foreach ($sid in $Done) {
        try { Set-RegistryValue "Registry::HKEY_USERS\$sid\$($setup.Substring(6))" 'Version' $version }
        catch { Write-Log $_.Exception.Message }
    }
    #</if>
    Set-RegistryValue $marker $Name $Value
    Write-Change $What
}
#</if>

#<if default|connections>
function Get-UserDevice {
    # <queue>,winspool,NeNN: and the NeNN: stands in Devices once the user has seen the queue.
    param($Printer, [string]$Path)
    $port = Get-RegistryValue "$Path\Devices" $Printer.Name
    if (-not $port) { $port = 'winspool,Ne00:' }
    return "$($Printer.Name),$port"
}
#</if>

#endregion
