#<if ipp>
#region The queue of an IPP printer

function Install-IppQueue {
    # Leaves a queue that is right alone, and asks its printer nothing. A wrong driver, port or URL cannot be changed:
    # the queue is removed and added. The name of its port, which Windows chooses and removes.
    param($Printer, $Queue)
    $what = "add queue $($Printer.Name) for $($Printer.IppUrl)"
    if ($null -ne $Queue) {
        $why = Get-IppDifference -Printer $Printer -Queue $Queue -Ports @(Invoke-Print -Command { Get-PrinterPort -ErrorAction Stop })
        if (-not $why) { $why = Get-RememberedDifference -Printer $Printer -Queue $Queue }
        if (-not $why) {
            Repair-Queue -Printer $Printer -Queue $Queue -PortName ''
            return $Queue.PortName
        }
        $what = "remove and ${what}: $why"
    }
    if (-not (Confirm-Change -Message $what)) { return '' }
    Write-Log -Message "To do: $what"
    if (-not (Test-Reachable -Address $Printer.Address -Port $Printer.PortNumber)) {
        Stop-Run -Code $script:ExitBusy -Message "The printer at $($Printer.Address), port $($Printer.PortNumber), is asleep or not reachable. Try again later."
    }
    $made = New-IppQueue -Printer $Printer -Old $Queue
    Repair-Queue -Printer $Printer -Queue $made -PortName ''
    return $made.PortName
}

function New-IppQueue {
    # Adds the queue, in place of an old one, and reads it back; of one that is not right nothing stays. What was
    # there before is noted first: a run that is cut off may leave a queue of another name.
    param($Printer, $Old)
    $marker = Get-MarkerPath -Printer $Printer
    $before = @(Get-LocalQueueName)
    if ($null -ne $Old) { Remove-WrongQueue -Queue $Old }
    $noted = Get-RegistryValue -Path $marker -Name 'Adding'
    if ($null -eq $noted) {
        # No queue's name holds a comma.
        $noted = $before -join ','
        $null = Set-RegistryValue -Path $marker -Name 'Adding' -Value $noted
    }
    $isAdded = $false
    try {
        Add-IppQueue -Printer $Printer
        $isAdded = $true
        $queue = Read-IppQueue -Printer $Printer -Before $before
    }
    catch {
        $failure = $_
        $wrong = Get-AddedQueue -Printer $Printer -Before $before
        if ($null -ne $wrong -and ($isAdded -or $wrong.Name -eq $Printer.Name)) { $null = Remove-Queue -Name $wrong.Name }
        Remove-RegistryValue -Path $marker -Name 'Adding'
        Remove-EmptyKey -Path $marker
        $message = $failure.Exception.Message
        $now = @(Get-LocalQueueName)
        $gone = @($before | Where-Object -FilterScript { $now -notcontains $_ }) -join ', '
        if ($gone) { $message = "$message Removed already: $gone. The next run adds the queue." }
        Stop-Run -Code (Get-FailureCode -ErrorRecord $failure) -Message $message
    }
    Remove-Stray -Queue $queue -Noted $noted.Split(',')
    $null = Set-RegistryValue -Path $marker -Name 'IppUrl' -Value $Printer.IppUrl
    $null = Set-RegistryValue -Path $marker -Name 'PortName' -Value $queue.PortName
    Remove-RegistryValue -Path $marker -Name 'Adding'
    Write-Change -Message "queue $($queue.Name) added for $($Printer.IppUrl), port $($queue.PortName)"
    return $queue
}

function Get-LocalQueueName {
    param([string]$Port = '*')
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ([string]$queue.Type -ne 'Connection' -and $queue.PortName -like $Port) { $queue.Name }
    }
}

function Show-Double {
    # Names other queues on the printer's device, as far as that can be known: on the same port, or on one with the
    # same id. Those that these scripts made for other printers are wanted.
    param($Printer, [string]$PortName)
    if (-not $PortName) { return }
    $ours = @(Get-RegistryChild -Path "$script:RegistryRoot\Printers" | ForEach-Object -Process { $_.Key.GetValue('Queue') })
    $id = Get-RegistryValue -Path "$script:WsdPortsKey\$PortName" -Name 'IPP PortId'
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.Name -eq $Printer.Name -or $ours -contains $queue.Name -or [string]$queue.Type -eq 'Connection') { continue }
        $isSame = $queue.PortName -eq $PortName
        if (-not $isSame -and $id) { $isSame = (Get-RegistryValue -Path "$script:WsdPortsKey\$($queue.PortName)" -Name 'IPP PortId') -eq $id }
        if ($isSame) { Add-Remark -Message "the queue $($queue.Name) is on the same device; ""replaces"" removes it" }
    }
}

#endregion
#</if>
