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
        $setup = Get-LogonSetupPath -Printer $Printer -Task $task
        if ($wanted[$task] -or -not (Test-Path -LiteralPath $setup) -or -not (Confirm-Change -Message "end $setup")) { continue }
        Remove-RegistryKey -Path $setup
        Write-Change -Message "$setup ended"
    }
}

#<if default|reset|connections>
function Register-LogonSetup {
    # Lets Active Setup run code once for each user who has not done it, again when it or the marker's value is another.
    # The code holds no text of a setting: it reads the marker.
    param($Printer, [string]$Task, [string]$Code, [string]$What, [string]$Name, [string]$Value, [string[]]$Done)
    $setup = Get-LogonSetupPath -Printer $Printer -Task $Task
    $marker = Get-MarkerPath -Printer $Printer
    $command = "powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command `"$Code`""
    $isSame = (Get-RegistryValue -Path $setup -Name 'StubPath') -ceq $command -and (Get-RegistryValue -Path $marker -Name $Name) -eq $Value
    if ($isSame -or -not (Confirm-Change -Message "$What at log-on")) { return }
    $version = '{0:yyyy,MMdd,HHmm,ss}' -f (Get-Date)
    $null = Set-RegistryValue -Path $setup -Name 'Version' -Value $version
    $null = Set-RegistryValue -Path $setup -Name 'StubPath' -Value $command
    #<if reset>
    foreach ($sid in $Done) {
        $null = Set-RegistryValue -Path "Registry::HKEY_USERS\$sid\$($setup.Substring(6))" -Name 'Version' -Value $version
    }
    #</if>
    $null = Set-RegistryValue -Path $marker -Name $Name -Value $Value
    Write-Change -Message "at log-on from now on: $What"
}
#</if>

#<if default|connections>
function Get-UserDevice {
    # <queue>,winspool,NeNN: and the NeNN: stands in Devices once the user has seen the queue.
    param($Printer, [string]$Path)
    $port = Get-RegistryValue -Path "$Path\Devices" -Name $Printer.Name
    if (-not $port) { $port = 'winspool,Ne00:' }
    return "$($Printer.Name),$port"
}
#</if>

#endregion
