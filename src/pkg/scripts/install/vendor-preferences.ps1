#<if files>
### The vendor's own preferences
$MaxWaitForPrintUiSeconds = 60

function Restore-VendorPreference {
    # Restores a file that printui saved on another machine, once per revision. printui has no exit code, so the settings
    # are saved before and after and compared.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    if (-not $Printer.PreferencesSha256 -or (Get-RegistryValue $marker 'Preferences') -eq $Printer.Revision) { return }
    if (-not (Confirm-Change "restore the vendor's preferences of $($Printer.Name)")) { return }
    if ($Printer.Name.Contains('"')) {
        Add-Remark 'the vendor''s preferences were not restored: the name of the queue has a quotation mark'
        return
    }
    $folder = New-TemporaryFolder
    $file = Get-PreferencesFile $Printer $folder
    $before = Save-VendorPreference $Printer (Join-Path $folder 'before.dat')
    $isDone = Invoke-PrintUi "/Sr /n `"$($Printer.Name)`" /a `"$file`" d g r /q"
    $after = Save-VendorPreference $Printer (Join-Path $folder 'after.dat')
    $remark = ''
    if (-not $isDone) { $remark = 'Windows did not finish restoring the vendor''s preferences' }
    elseif (-not $after) { $remark = 'Windows does not say whether it restored the vendor''s preferences' }
    elseif ($after -eq $before -and $after -ne $Printer.PreferencesSha256) {
        $remark = "Windows did not restore the vendor's preferences: they may be of another driver or another version"
    }
    if ($remark) { Add-Remark $remark }
    if ($isDone) { Set-RegistryValue $marker 'Preferences' $Printer.Revision }
    Write-Change "the vendor's preferences of $($Printer.Name) were given to Windows"
}

function Get-PreferencesFile {
    # The file beside this script or from the service, in a folder that only this script writes to.
    param($Printer, [string]$Folder)
    $copy = Join-Path $Folder 'preferences.dat'
    #<if preferences-download>
    if ($Printer.PreferencesDownload) {
        Save-Download 'preferences file' $Printer.PreferencesDownload $copy $Printer.PreferencesSha256
        return $copy
    }
    #</if>
    $beside = "$PSScriptRoot\$($Printer.PreferencesFile)"
    if (-not (Test-Path -LiteralPath $beside -PathType Leaf)) {
        Stop-Run "The preferences file is missing: expected $($Printer.PreferencesFile) beside this script."
    }
    Copy-Item -LiteralPath $beside -Destination $copy
    $found = (Get-FileHash -LiteralPath $copy).Hash
    if ($found -ne $Printer.PreferencesSha256) {
        Stop-Run "The preferences file is not the expected one: its SHA-256 is $found, not $($Printer.PreferencesSha256)."
    }
    return $copy
}

function Save-VendorPreference {
    # The SHA-256 of what printui saves now; '' if it saves nothing.
    param($Printer, [string]$Path)
    $null = Invoke-PrintUi "/Ss /n `"$($Printer.Name)`" /a `"$Path`" d g /q"
    if (-not (Test-Path -LiteralPath $Path)) { return '' }
    return (Get-FileHash -LiteralPath $Path).Hash
}

function Invoke-PrintUi {
    # Returns whether it ended in time.
    param([string]$Arguments)
    $process = Start-Process -FilePath "$env:windir\System32\rundll32.exe" -ArgumentList "printui.dll,PrintUIEntry $Arguments" -PassThru
    if ($process.WaitForExit(1000 * $MaxWaitForPrintUiSeconds)) { return $true }
    try { $process.Kill() }
    catch { Write-Log $_.Exception.Message }
    return $false
}
#</if>
