#<if windows>
#region A driver that Windows brings

function Install-WindowsDriver {
    # By its name alone: it has no package, and its version is Windows' own.
    param($Printer)
    $name = $Printer.DriverName
    if ($null -ne (Invoke-Print -Command { Get-Driver -Name $name })) { return }
    if (-not (Confirm-Change -Message "add Windows' own driver $name")) { return }
    $why = 'it gave no reason'
    try {
        Invoke-Print -Command { Add-PrinterDriver -Name $name -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        $why = "$($_.Exception.Message) ($(Get-ErrorCode -ErrorRecord $_))"
    }
    if ($null -eq (Invoke-Print -Command { Get-Driver -Name $name })) {
        Stop-Run -Message "This machine lacks the driver $name, and Windows does not bring it: $why"
    }
    Write-Change -Message "Windows' own driver $name added"
}

#endregion
#</if>
