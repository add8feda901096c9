### The queue and its port
$MaxWaitForJobsSeconds = 60

function Uninstall-Queue {
    # Removes the queue, and its port if install made it. The marker knows the names of an earlier revision.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    $names = @($Printer.Name, (Get-RegistryValue $marker 'Queue'))
    $ports = @($Printer.PortName, (Get-RegistryValue $marker 'PortName')) + @(Get-NotedPort $Printer)
    foreach ($name in @($names | Where-Object { $_ } | Select-Object -Unique)) {
        $queue = Get-LocalQueue $name
        if ($null -eq $queue) { continue }
        $ports += $queue.PortName
        Clear-Job $name
        $isGone = Remove-Queue $name
        if (-not $isGone -and (Restart-Spooler "the queue $name is still listed")) {
            $isGone = Remove-Queue $name
        }
        if (-not $isGone) { Add-Remark "Windows has not removed the queue $name yet, so its port stays" }
    }
    #<if ipp>
    Show-Stray $Printer (Get-RegistryValue $marker 'Adding')
    #</if>
    foreach ($port in @($ports | Where-Object { $_ } | Select-Object -Unique)) {
        $isGone = Invoke-UntilFree "the port $port" { Remove-OwnPort $port }
        if (-not $isGone) { Add-Remark "the port $port stays until Windows lets it go" }
    }
}

function Clear-Job {
    # Gives jobs a minute to print. Then deletes those that are stuck or older than a day, and printed ones that the queue
    # keeps. Others that still wait or print keep the queue. -Force deletes all.
    param([string]$Name)
    if (-not $Force) { $null = Wait-Until $MaxWaitForJobsSeconds { @(Get-QueueJob $Name | ForEach-Object { ConvertTo-OpenJob $_ }).Count -eq 0 } }
    $unprinted = 0
    $waiting = 0
    foreach ($job in @(Get-QueueJob $Name)) {
        $open = ConvertTo-OpenJob $job
        if ($null -ne $open -and -not $Force -and $open.Stopped.Count -eq 0 -and $open.Minutes -lt 60 * $MaxJobHours) { $waiting++; continue }
        try {
            Invoke-Print { Remove-PrintJob -InputObject $job -ErrorAction Stop }
            if ($null -ne $open) { $unprinted++ }
        }
        catch {
            if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
            Write-Log "A job stays: $($_.Exception.Message)"
        }
    }
    if ($unprinted -gt 0) { Add-Remark "unprinted jobs deleted: $unprinted" }
    if ($waiting -gt 0) { Stop-Run "The queue $Name still has $waiting open jobs. Try again later, or use -Force." $ExitBusy }
}

function Get-QueueJob {
    # None where Windows already deletes the queue or no longer has it.
    param([string]$Name)
    try { Invoke-Print { Get-PrintJob -PrinterName $Name -ErrorAction Stop } }
    catch { if ((Get-ErrorCode $_) -notin '0x80070771', '0x80070709') { throw } }
}

#<if ipp>
function Show-Stray {
    # Names queues that an interrupted installation may have left under a name that Windows chose.
    param($Printer, $Noted)
    if ($null -eq $Noted) { return }
    foreach ($queue in @(Get-Queue)) {
        if ($queue.Name -eq $Printer.Name -or $queue.DriverName -ne $Printer.DriverName -or $Noted.Split(',') -contains $queue.Name) { continue }
        Add-Remark "the queue $($queue.Name) may come from an interrupted installation"
    }
}
#</if>

function Get-NotedPort {
    # The ports that install made for the printer, or took over from a queue that it replaced.
    param($Printer)
    $key = Get-Item -LiteralPath $PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($key.GetValue($name) -eq [string]$Printer.Id) { $name }
    }
}
