#region The queue and its port

$MaxWaitForJobsSeconds = 60

function Uninstall-Queue {
    # Removes the queue, and its port where install made it. The names of an earlier revision, which the marker
    # holds, go as well.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    $names = @($Printer.Name, (Get-RegistryValue $marker 'Queue'))
    $ports = @($Printer.PortName, (Get-RegistryValue $marker 'PortName')) + @(Get-RecordedPort $Printer)
    foreach ($name in @($names | Where-Object { $_ } | Select-Object -Unique)) {
        $queue = Get-LocalQueue $name
        if ($null -eq $queue) { continue }
        $ports += $queue.PortName
        Wait-ForJobs $name
        $isGone = Remove-Queue $name
        if (-not $isGone -and (Restart-Spooler "the queue $name is still listed")) {
            $isGone = Remove-Queue $name
        }
        if (-not $isGone) { Add-Remark "the queue $name goes when its jobs are done" }
    }
    #<if ipp>
    Show-Stray $Printer (Get-RegistryValue $marker 'Adding')
    #</if>
    foreach ($port in @($ports | Where-Object { $_ } | Select-Object -Unique)) {
        $isGone = Invoke-UntilFree "the port $port" { Remove-OwnPort $port }
        if (-not $isGone) { Add-Remark "the port $port stays until Windows lets it go" }
    }
}

#<if ipp>
function Show-Stray {
    # Names what an interrupted installation may have left under a name that Windows chose. It may be somebody else's.
    param($Printer, $Noted)
    if ($null -eq $Noted) { return }
    foreach ($queue in @(Get-Queue)) {
        if ($queue.Name -eq $Printer.Name -or $queue.DriverName -ne $Printer.DriverName -or $Noted.Split(',') -contains $queue.Name) { continue }
        Add-Remark "the queue $($queue.Name) may come from an interrupted installation"
    }
}
#</if>

function Get-RecordedPort {
    # The names of ports that install made for the printer, or took over from a queue that it replaced.
    param($Printer)
    $key = Get-Item -LiteralPath $PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($key.GetValue($name) -eq [string]$Printer.Id) { $name }
    }
}

function Wait-ForJobs {
    # Jobs are somebody's work: they get a while to print, unless -Force is given.
    param([string]$Name)
    if ($Force) { return }
    $queue = Get-LocalQueue $Name
    if ($null -eq $queue) { return }
    $isEmpty = Wait-Until $MaxWaitForJobsSeconds {
        @(Invoke-Print { Get-OpenJob $Name }).Count -eq 0
    }
    if ($isEmpty) { return }
    $count = @(Invoke-Print { Get-OpenJob $Name }).Count
    Stop-Run "The queue $Name still has $count open jobs. Try again later, or use -Force." $ExitBusy
}

function Get-OpenJob {
    param([string]$Name)
    return @(Get-PrintJob -PrinterName $Name -ErrorAction Stop)
}

#endregion
