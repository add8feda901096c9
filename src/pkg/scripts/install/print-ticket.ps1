#<if ticket>
#region The PrintTicket

function Set-PrintTicket {
    # Preferences that no setting names. The driver makes of a ticket what it can, so the marker remembers what is read
    # back: as long as that and the ticket are the same, nothing is done. Whether the queue has the ticket.
    param($Printer)
    if (-not $Printer.PrintTicket) { return $false }
    $marker = Get-MarkerPath -Printer $Printer
    if ((Get-RegistryValue -Path $marker -Name 'Ticket') -eq (Get-TicketState -Printer $Printer -Xml (Read-PrintTicket -Printer $Printer))) {
        $remark = Get-RegistryValue -Path $marker -Name 'TicketRemark'
        if ($remark) { Add-Remark -Message $remark }
        return $true
    }
    if (-not (Confirm-Change -Message "give $($Printer.Name) its PrintTicket")) { return $false }
    try {
        Invoke-Print -Command { Set-PrintConfiguration -PrinterName $Printer.Name -PrintTicketXml $Printer.PrintTicket -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        Add-Remark -Message "the driver refuses the PrintTicket ($(Get-ErrorCode -ErrorRecord $_))"
        return $false
    }
    Write-Change -Message "the PrintTicket of $($Printer.Name) was given to the driver"
    $xml = Read-PrintTicket -Printer $Printer
    if ($null -eq $xml) {
        Add-Remark -Message 'the PrintTicket cannot be read back'
        return $false
    }
    $there = @{}
    foreach ($choice in @(Get-TicketChoice -Xml $xml)) { $there[$choice] = $true }
    $missing = @(Get-TicketChoice -Xml $Printer.PrintTicket | Where-Object -FilterScript { -not $there.ContainsKey($_) })
    $names = @($missing | ForEach-Object -Process { ($_ -split '=')[0] -replace '^.* ' } | Select-Object -Unique)
    $remark = ''
    if ($names.Count -gt 5) { $names = @($names[0..4]) + 'others' }
    if ($names.Count -gt 0) { $remark = "the driver leaves out of the PrintTicket: $($names -join ', ')" }
    if ($there.Count -eq 0) { $remark = 'the driver gives no PrintTicket back' }
    if ($remark) { Add-Remark -Message $remark }
    $null = Set-RegistryValue -Path $marker -Name 'TicketRemark' -Value $remark
    return $true
}

function Save-TicketState {
    # When all preferences are set: others go after the ticket, and change what is read back.
    param($Printer)
    $state = Get-TicketState -Printer $Printer -Xml (Read-PrintTicket -Printer $Printer)
    $null = Set-RegistryValue -Path (Get-MarkerPath -Printer $Printer) -Name 'Ticket' -Value $state
}

function Get-TicketState {
    # Digests of the printer's ticket and of what another one chooses.
    param($Printer, [string]$Xml)
    $digests = foreach ($text in $Printer.PrintTicket, (@(Get-TicketChoice -Xml $Xml | Sort-Object) -join "`n")) {
        $stream = New-Object -TypeName IO.MemoryStream -ArgumentList @(, [Text.Encoding]::UTF8.GetBytes($text))
        (Get-FileHash -InputStream $stream -Algorithm SHA256).Hash.Substring(0, 16)
    }
    return $digests -join ' '
}

function Read-PrintTicket {
    # The queue's ticket as the driver gives it; $null where it cannot be read.
    param($Printer)
    try {
        $current = Invoke-Print -Command { Get-PrintConfiguration -PrinterName $Printer.Name -ErrorAction Stop }
        return [string](Get-Property -InputObject $current -Name 'PrintTicketXML')
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        Write-Log -Message "The PrintTicket of $($Printer.Name) cannot be read: $($_.Exception.Message)"
        return $null
    }
}

function Get-TicketChoice {
    # What a ticket chooses, a text each: feature=option or parameter=value. Prefixes differ from ticket to ticket, so
    # namespaces stand in their place; a snapshot of the driver's own data is another on each machine.
    param([string]$Xml)
    $wanted = '//*[@name and (local-name()="Option" or local-name()="ParameterInit")]'
    $document = $Xml.Trim([char]0xFEFF) -as [xml]
    if ($null -eq $document) { return }
    foreach ($node in $document.SelectNodes($wanted)) {
        $name = Get-TicketName -Node $node
        if ($node.LocalName -eq 'Option') { "$(Get-TicketName -Node $node.ParentNode)=$name" }
        elseif ($name -notlike '*DevmodeSnapshot') { "$name=$($node.InnerText.Trim())" }
    }
}

function Get-TicketName {
    param($Node)
    $parts = $Node.GetAttribute('name').Split(':')
    return "$($Node.GetNamespaceOfPrefix($parts[0])) $($parts[-1])"
}

#endregion
#</if>
