#region How a printer differs from what was deployed

function Get-Difference {
    # Every way in which a printer is not as it should be, what matters most first. Each is a table of Check (queue,
    # port, driver or marker), Text, and IsMinor: it prints all the same.
    param($Printer, $Queues, $Ports, $Drivers)
    #<if queue>
    if ($Printer.HasQueue) { Get-DeployedQueueDifference -Printer $Printer -Queues $Queues -Ports $Ports }
    #</if>
    #<if alone>
    Get-DriverAloneDifference -Printer $Printer -Drivers $Drivers
    #</if>
    #<if printer>
    #<if package|windows|apart>
    Get-DriverDifference -Printer $Printer -Drivers $Drivers
    #</if>
    #</if>
    Get-MarkerDifference -Printer $Printer
}

function New-Difference {
    param([string]$Check, [string]$Text, [bool]$IsMinor = $false)
    return @{ Check = $Check; Text = $Text; IsMinor = $IsMinor }
}

function Get-MarkerDifference {
    param($Printer)
    $revision = Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Revision'
    if (-not $revision) { New-Difference -Check 'marker' -Text 'it was not installed by these scripts' -IsMinor $true }
    elseif ($revision -ne $Printer.Revision) {
        New-Difference -Check 'marker' -Text "its revision is $revision, not $($Printer.Revision)" -IsMinor $true
    }
}

#<if package|windows|apart>
function Get-DriverDifference {
    param($Printer, $Drivers)
    $driver = @($Settings.Drivers | Where-Object -FilterScript { $_.Key -eq $Printer.DriverKey })[0]
    #<if ipp>
    if ($driver.Origin -eq 'ipp') { return }
    #</if>
    if (@($Drivers | Where-Object -FilterScript { $_.Name -eq $Printer.DriverName }).Count -eq 0) {
        return New-Difference -Check 'driver' -Text "the driver $($Printer.DriverName) is not there"
    }
    #<if package|apart>
    #<if windows>
    if ($driver.Origin -eq 'windows') { return }
    #</if>
    $installed = Get-DriverVersion -Name $Printer.DriverName
    if (-not (Test-DriverCurrent -Installed $installed -Driver $driver)) {
        $version = 'unknown'
        if ($null -ne $installed -and $installed.Version) { $version = $installed.Version }
        New-Difference -Check 'driver' -Text "the driver's version is $version, not $($driver.Version)"
    }
    #</if>
}
#</if>

#<if alone>
function Get-DriverAloneDifference {
    # Of each name of a driver by itself. One that others brought may go with them.
    param($Printer, $Drivers)
    $known = @(Get-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'DriverName')
    foreach ($name in $Printer.DriverNames) {
        foreach ($difference in @(Get-DriverDifference -Printer @{ DriverName = $name; DriverKey = $Printer.DriverKey } -Drivers $Drivers)) {
            $difference.Text = "${name}: $($difference.Text)"
            $difference
        }
        if ($known -notcontains $name) {
            New-Difference -Check 'marker' -Text "the driver $name was not installed by these scripts" -IsMinor $true
        }
    }
}
#</if>

#<if queue>
function Get-DeployedQueueDifference {
    # Of the queue and of the port that it has.
    param($Printer, $Queues, $Ports)
    $queue = @($Queues | Where-Object -FilterScript { $_.Name -eq $Printer.Name -and [string]$_.Type -ne 'Connection' })
    if ($queue.Count -eq 0) { return New-Difference -Check 'queue' -Text 'there is no such queue' }
    # The port may have another name than the wanted one, where that was taken: its address counts.
    $difference = Get-QueueDifference -Queue $queue[0] -Printer $Printer -PortName ''
    foreach ($name in @($difference.Keys | Sort-Object)) {
        $text = "$name is $(Get-Property -InputObject $queue[0] -Name $name), not $($difference[$name])"
        New-Difference -Check 'queue' -Text $text -IsMinor ($name -ne 'DriverName')
    }
    #<if ipp>
    if ($Printer.IppUrl) {
        $text = ''
        if (-not $difference.ContainsKey('DriverName')) { $text = Get-IppDifference -Printer $Printer -Queue $queue[0] -Ports $Ports }
        if ($text) { New-Difference -Check 'port' -Text $text }
        $text = Get-RememberedDifference -Printer $Printer -Queue $queue[0]
        # Added by somebody else, it may print all the same; added for another URL, it does so elsewhere.
        if ($text) { New-Difference -Check 'marker' -Text $text -IsMinor ($text -notlike 'its URL *') }
        return
    }
    #</if>
    #<if port>
    $port = @($Ports | Where-Object -FilterScript { $_.Name -eq $queue[0].PortName })
    if ($port.Count -eq 0) { return New-Difference -Check 'port' -Text "its port $($queue[0].PortName) is not there" }
    if (-not $Printer.Address -and $queue[0].PortName -ne $Printer.PortName) {
        New-Difference -Check 'port' -Text "its port is $($queue[0].PortName), not $($Printer.PortName)"
    }
    foreach ($text in @(Get-PortDifference -Port $port[0] -Printer $Printer)) {
        New-Difference -Check 'port' -Text "port $($queue[0].PortName): $text"
    }
    #</if>
}
#</if>

#endregion
