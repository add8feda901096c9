#<if ipp>
### The queue of an IPP printer
function Install-IppQueue {
    # Does nothing if the queue is right, and does not contact the printer then. A wrong driver, port or URL cannot be
    # changed, so the queue is removed and added. Returns the name of its port. Windows chooses and removes the port.
    param($Printer, $Queue)
    $what = "add queue $($Printer.Name) for $($Printer.IppUrl)"
    if ($null -ne $Queue) {
        $why = Get-IppDifference $Printer $Queue @(Get-Port)
        if (-not $why) { $why = Get-RememberedDifference $Printer $Queue }
        if (-not $why) {
            Repair-Queue $Printer $Queue ''
            return $Queue.PortName
        }
        $what = "remove and ${what}: $why"
    }
    if (-not (Confirm-Change $what)) { return '' }
    Write-Log "To do: $what"
    if (-not (Test-Reachable $Printer.Address $Printer.PortNumber)) {
        Stop-Run "The printer at $($Printer.Address), port $($Printer.PortNumber), is asleep or not reachable. Try again later." $ExitBusy
    }
    $made = New-IppQueue $Printer $Queue
    Repair-Queue $Printer $made ''
    return $made.PortName
}

function New-IppQueue {
    # Adds the queue in place of an old one and reads it back. Removes it if it is not right. Notes the other queues first,
    # because an interrupted run may leave a queue of another name.
    param($Printer, $Old)
    $marker = Get-MarkerPath $Printer
    $before = @(Get-LocalQueueName)
    if ($null -ne $Old) { Remove-WrongQueue $Old }
    $noted = Get-RegistryValue $marker 'Adding'
    if ($null -eq $noted) {
        # No queue's name holds a comma.
        $noted = $before -join ','
        Set-RegistryValue $marker 'Adding' $noted
    }
    $isAdded = $false
    try {
        Add-IppQueue $Printer
        $isAdded = $true
        $queue = Read-IppQueue $Printer $before
    }
    catch {
        $failure = $_
        $wrong = Get-AddedQueue $Printer $before
        if ($null -ne $wrong -and ($isAdded -or $wrong.Name -eq $Printer.Name)) { $null = Remove-Queue $wrong.Name }
        Remove-RegistryValue $marker 'Adding'
        Remove-EmptyKey $marker
        $message = $failure.Exception.Message
        $now = @(Get-LocalQueueName)
        $gone = @($before | Where-Object { $now -notcontains $_ }) -join ', '
        if ($gone) { $message = "$message Removed already: $gone. The next run adds the queue." }
        Stop-Run -Code (Get-FailureCode $failure) $message
    }
    Remove-Stray $queue $noted.Split(',')
    Set-RegistryValue $marker 'IppUrl' $Printer.IppUrl
    Set-RegistryValue $marker 'PortName' $queue.PortName
    Remove-RegistryValue $marker 'Adding'
    Write-Change "queue $($queue.Name) added for $($Printer.IppUrl), port $($queue.PortName)"
    return $queue
}

function Get-LocalQueueName {
    param([string]$Port = '*')
    foreach ($queue in @(Get-Queue)) {
        if ([string]$queue.Type -ne 'Connection' -and $queue.PortName -like $Port) { $queue.Name }
    }
}

function Show-Double {
    # Names other queues of the printer's device: on the same port, or on a port with the same id. Queues that Platen
    # deployed are wanted.
    param($Printer, [string]$PortName)
    if (-not $PortName) { return }
    $ours = @(Get-RegistryChild "$RegistryRoot\Printers" | ForEach-Object { $_.Key.GetValue('Queue') })
    $id = Get-RegistryValue "$WsdPortsKey\$PortName" 'IPP PortId'
    foreach ($queue in @(Get-Queue)) {
        if ($queue.Name -eq $Printer.Name -or $ours -contains $queue.Name -or [string]$queue.Type -eq 'Connection') { continue }
        $isSame = $queue.PortName -eq $PortName
        if (-not $isSame -and $id) { $isSame = (Get-RegistryValue "$WsdPortsKey\$($queue.PortName)" 'IPP PortId') -eq $id }
        if ($isSame) { Add-Remark "the queue $($queue.Name) is on the same device; ""replaces"" removes it" }
    }
}

#</if>
