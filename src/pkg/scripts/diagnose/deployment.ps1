### Queue, port, driver and marker, as detection compares them
function Test-Deployment {
    param($Printer, $System, $Queue, $Port)
    if ($null -eq $System) {
        Add-Finding 'warn' 'queue' 'not looked at, and neither were driver, port, status, jobs and doubles: the spooler does not answer'
        Add-Difference @(Get-MarkerDifference $Printer) @{ marker = Get-MarkerText $Printer }
        return
    }
    $right = @{ marker = Get-MarkerText $Printer }
    $driver = @($System.Drivers | Where-Object Name -eq $Printer.DriverName)
    if ($driver.Count -gt 0) { $right.driver = "$($Printer.DriverName) is there" }
    #<if package|apart>
    $installed = Get-DriverVersion $Printer.DriverName
    if ($driver.Count -gt 0 -and $null -ne $installed) { $right.driver = "$($Printer.DriverName) $($installed.Version)" }
    #</if>
    if ($null -ne $Queue) { $right.queue = "is there with the driver $($Queue.DriverName)" }
    if ($null -ne $Port) {
        $right.port = "$($Port.Name) is a port of $(Get-Property $Port 'PortMonitor')"
        $address = [string](Get-Property $Port 'PrinterHostAddress')
        if ($address) { $right.port = "$($Port.Name) leads to $address" }
    }
    $differences = @(Get-Difference $Printer -Queues $System.Queues -Ports $System.Ports -Drivers $System.Drivers)
    Add-Difference $differences $right
}

function Add-Difference {
    # Each difference of each check is a finding; a check without any is right.
    param($Differences, $Right)
    foreach ($check in 'queue', 'driver', 'port', 'marker') {
        $own = @($Differences | Where-Object { $_.Check -eq $check })
        foreach ($difference in $own) {
            $level = 'bad'
            if ($difference.IsMinor) { $level = 'warn' }
            Add-Finding $level $check $difference.Text
        }
        if ($own.Count -eq 0 -and $Right.ContainsKey($check)) { Add-Finding 'ok' $check $Right[$check] }
    }
}

function Get-MarkerText {
    param($Printer)
    $deployed = Get-RegistryValue (Get-MarkerPath $Printer) 'Deployed'
    $text = "installed by Platen, revision $($Printer.Revision)"
    if ($deployed) { $text += ", at $deployed" }
    return $text
}

function Test-Protection {
    # What the mode means for the driver of a printer.
    param($Printer)
    if (-not $script:IsProtected) { return }
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    if ($driver.Origin -eq 'ipp') {
        Add-Finding 'ok' 'protected-print' 'the mode is on, and lets IPP queues through'
        return
    }
    Add-Finding 'bad' 'protected-print' ("the mode is on, in which Windows takes no driver but its own for IPP and removes queues with others: " +
        'switch it off by policy, or deploy the printer with the Microsoft IPP Class Driver')
}

