#<if windows>
### A driver that Windows includes
function Install-WindowsDriver {
    # It has no package, and Windows knows its version.
    param($Printer)
    $name = $Printer.DriverName
    if ($null -ne (Get-Driver $name)) { return }
    if (-not (Confirm-Change "add Windows' own driver $name")) { return }
    $why = 'it gave no reason'
    try { Invoke-Print { Add-PrinterDriver -Name $name -ErrorAction Stop } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        $why = "$($_.Exception.Message) ($(Get-ErrorCode $_))"
    }
    if ($null -eq (Get-Driver $name)) {
        Stop-Run "This machine lacks the driver $name, and Windows does not bring it: $why"
    }
    Write-Change "Windows' own driver $name added"
}
#</if>
