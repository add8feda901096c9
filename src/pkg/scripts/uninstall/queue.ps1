#region The queue and its port

$script:MaxWaitForJobsSeconds = 60

function Uninstall-Queue {
    # Removes the queue, and its port where install made it. The names of an earlier revision, which the marker
    # holds, go as well.
    param($Printer)
    $marker = Get-MarkerPath -Printer $Printer
    $names = @($Printer.Name, (Get-RegistryValue -Path $marker -Name 'Queue'))
    $ports = @($Printer.PortName, (Get-RegistryValue -Path $marker -Name 'PortName')) + @(Get-RecordedPort -Printer $Printer)
    foreach ($name in @($names | Where-Object -FilterScript { $_ } | Select-Object -Unique)) {
        $queue = Invoke-Print -Command { Get-LocalQueue -Name $name }
        if ($null -eq $queue) { continue }
        $ports += $queue.PortName
        Wait-ForJobs -Name $name
        $isGone = Remove-Queue -Name $name
        if (-not $isGone -and (Restart-Spooler -Because "the queue $name is still listed")) {
            $isGone = Remove-Queue -Name $name
        }
        if (-not $isGone) { Add-Remark -Message "the queue $name goes when its jobs are done" }
    }
    #<if ipp>
    Show-Stray -Printer $Printer -Noted (Get-RegistryValue -Path $marker -Name 'Adding')
    #</if>
    foreach ($port in @($ports | Where-Object -FilterScript { $_ } | Select-Object -Unique)) {
        $isGone = Invoke-UntilFree -What "the port $port" -Remove { Remove-OwnPort -Name $port }
        if (-not $isGone) { Add-Remark -Message "the port $port stays until Windows lets it go" }
    }
}

#<if ipp>
function Show-Stray {
    # Names what an interrupted installation may have left under a name that Windows chose. It may be somebody else's.
    param($Printer, $Noted)
    if ($null -eq $Noted) { return }
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.Name -eq $Printer.Name -or $queue.DriverName -ne $Printer.DriverName -or $Noted.Split(',') -contains $queue.Name) { continue }
        Add-Remark -Message "the queue $($queue.Name) may come from an interrupted installation"
    }
}
#</if>

function Get-RecordedPort {
    # The names of ports that install made for the printer, or took over from a queue that it replaced.
    param($Printer)
    $key = Get-Item -LiteralPath $script:PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($key.GetValue($name) -eq [string]$Printer.Id) { $name }
    }
}

function Wait-ForJobs {
    # Jobs are somebody's work: they get a while to print, unless -Force is given.
    param([string]$Name)
    if ($Force) { return }
    $queue = Invoke-Print -Command { Get-LocalQueue -Name $Name }
    if ($null -eq $queue) { return }
    $isEmpty = Wait-Until -Seconds $script:MaxWaitForJobsSeconds -Condition {
        @(Invoke-Print -Command { Get-OpenJob -Name $Name }).Count -eq 0
    }
    if ($isEmpty) { return }
    $count = @(Invoke-Print -Command { Get-OpenJob -Name $Name }).Count
    Stop-Run -Code $script:ExitBusy -Message "The queue $Name still has $count open jobs. Try again later, or use -Force."
}

function Get-OpenJob {
    param([string]$Name)
    return @(Get-PrintJob -PrinterName $Name -ErrorAction Stop)
}

#endregion
