### Log-on
# For all printers of the machine, one component of Active Setup runs one script. It reads the printers' markers.
$ComponentsKey = 'HKLM:\SOFTWARE\Microsoft\Active Setup\Installed Components'
$RunKey = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Run'
$LogonPath = "$env:ProgramFiles\Platen\logon.ps1"

function Remove-Logon {
    # Ends what happens for this printer at log-on. Earlier versions of Platen had three components for each printer.
    param($Printer)
    foreach ($name in 'LogonDefault', 'LogonSubnets', 'LogonReset', 'LogonConnections', 'LogonSince') { Remove-RegistryValue (Get-MarkerPath $Printer) $name }
    foreach ($suffix in '', '-reset', '-connections') { Remove-RegistryKey "$ComponentsKey\Platen-$($Printer.Id)$suffix" }
    $names = @(Get-RegistryChild "$RegistryRoot\Printers" | ForEach-Object { $_.Key.GetValueNames() })
    if ($names -notcontains 'LogonSubnets') { Remove-RegistryValue $RunKey 'Platen' }
    if (@($names -like 'Logon*').Count -gt 0) { return }
    Remove-RegistryKey "$ComponentsKey\Platen"
    Remove-Item -LiteralPath $LogonPath -Force -ErrorAction SilentlyContinue
    #<if uninstall>
    $folder = Split-Path -Path $LogonPath -Parent
    if ((Test-Path -LiteralPath $folder) -and @(Get-ChildItem -LiteralPath $folder).Count -eq 0) { Remove-Item -LiteralPath $folder -Force }
    #</if>
}
