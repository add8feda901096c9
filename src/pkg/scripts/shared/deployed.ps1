### How a printer differs from what was deployed
function Get-Difference {
    # Each way in which a printer is not as wanted, the most important first: Check (queue, port, driver or marker), Text,
    # and IsMinor, which means that it still prints.
    param($Printer, $Queues, $Ports, $Drivers)
    #<if queue>
    if ($Printer.HasQueue) { Get-DeployedQueueDifference $Printer $Queues $Ports }
    #</if>
    #<if alone>
    Get-DriverAloneDifference $Printer $Drivers
    #</if>
    #<if printer>
    #<if package|windows|apart>
    Get-DriverDifference $Printer $Drivers
    #</if>
    #</if>
    Get-MarkerDifference $Printer
}

function New-Difference {
    param([string]$Check, [string]$Text, [bool]$IsMinor = $false)
    return @{ Check = $Check; Text = $Text; IsMinor = $IsMinor }
}

function Get-MarkerDifference {
    param($Printer)
    $revision = Get-RegistryValue (Get-MarkerPath $Printer) 'Revision'
    if (-not $revision) { New-Difference 'marker' 'it was not installed by these scripts' $true }
    elseif ($revision -ne $Printer.Revision) {
        New-Difference 'marker' "its revision is $revision, not $($Printer.Revision)" $true
    }
}

#<if package|windows|apart>
function Get-DriverDifference {
    param($Printer, $Drivers)
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    #<if ipp>
    if ($driver.Origin -eq 'ipp') { return }
    #</if>
    if (@($Drivers | Where-Object Name -eq $Printer.DriverName).Count -eq 0) {
        return New-Difference 'driver' "the driver $($Printer.DriverName) is not there"
    }
    #<if package|apart>
    #<if windows>
    if ($driver.Origin -eq 'windows') { return }
    #</if>
    $installed = Get-DriverVersion $Printer.DriverName
    if (-not (Test-DriverCurrent $installed $driver)) {
        $version = 'unknown'
        if ($null -ne $installed -and $installed.Version) { $version = $installed.Version }
        New-Difference 'driver' "the driver's version is $version, not $($driver.Version)"
    }
    #</if>
}
#</if>

#<if detect>
#<if package|apart>
function Get-NewerDriverRemark {
    # What the last line says of newer drivers that stay.
    param($Printer)
    $driver = @($Settings.Drivers | Where-Object { $_.Key -eq $Printer.DriverKey })[0]
    $names = @($Printer.DriverName)
    #<if alone>
    $names = $Printer.DriverNames
    #</if>
    foreach ($name in $names) { foreach ($text in @(Get-NewerDriverText $name $driver)) { "; $text" } }
}
#</if>
#</if>

#<if alone>
function Get-DriverAloneDifference {
    # For each name of the driver. If another program installed a name, it may also remove it.
    param($Printer, $Drivers)
    $known = @(Get-RegistryValue (Get-MarkerPath $Printer) 'DriverName')
    foreach ($name in $Printer.DriverNames) {
        foreach ($difference in @(Get-DriverDifference @{ DriverName = $name; DriverKey = $Printer.DriverKey } $Drivers)) {
            $difference.Text = "${name}: $($difference.Text)"
            $difference
        }
        if ($known -notcontains $name) {
            New-Difference 'marker' "the driver $name was not installed by these scripts" $true
        }
    }
}
#</if>

#<if queue>
function Get-DeployedQueueDifference {
    param($Printer, $Queues, $Ports)
    $queue = @($Queues | Where-Object { $_.Name -eq $Printer.Name -and [string]$_.Type -ne 'Connection' })
    if ($queue.Count -eq 0) { return New-Difference 'queue' 'there is no such queue' }
    # The port may have another name, if the wanted one was taken. Only its address counts.
    $difference = Get-QueueDifference $queue[0] $Printer ''
    foreach ($name in @($difference.Keys | Sort-Object)) {
        $text = "$name is $(Get-Property $queue[0] $name), not $($difference[$name])"
        New-Difference 'queue' $text ($name -ne 'DriverName')
    }
    #<if ipp>
    if ($Printer.IppUrl) {
        $text = ''
        if (-not $difference.ContainsKey('DriverName')) { $text = Get-IppDifference $Printer $queue[0] $Ports }
        if ($text) { New-Difference 'port' $text }
        $text = Get-RememberedDifference $Printer $queue[0]
        # It may still print if it was added by hand. If it was added for another URL, it prints elsewhere.
        if ($text) { New-Difference 'marker' $text ($text -notlike 'its URL *') }
        return
    }
    #</if>
    #<if port>
    $port = @($Ports | Where-Object { $_.Name -eq $queue[0].PortName })
    if ($port.Count -eq 0) { return New-Difference 'port' "its port $($queue[0].PortName) is not there" }
    if (-not $Printer.Address -and $queue[0].PortName -ne $Printer.PortName) {
        New-Difference 'port' "its port is $($queue[0].PortName), not $($Printer.PortName)"
    }
    foreach ($text in @(Get-PortDifference $port[0] $Printer)) {
        New-Difference 'port' "port $($queue[0].PortName): $text"
    }
    #</if>
}
#</if>

