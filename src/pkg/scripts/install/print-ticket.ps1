#<if ticket>
### The PrintTicket
function Set-PrintTicket {
    # Preferences for which there is no setting. A driver changes a ticket, so the marker keeps a digest of what is read
    # back. Nothing happens as long as that and the ticket are the same. Returns whether the queue has the ticket.
    param($Printer)
    #<if many>
    if (-not $Printer.PrintTicket) { return $false }
    #</if>
    $marker = Get-MarkerPath $Printer
    if ((Get-RegistryValue $marker 'Ticket') -eq (Get-TicketState $Printer)) {
        $remark = Get-RegistryValue $marker 'TicketRemark'
        if ($remark) { Add-Remark $remark }
        return $true
    }
    if (-not (Confirm-Change "give $($Printer.Name) its PrintTicket")) { return $false }
    if (-not (Set-Configuration $Printer 'the PrintTicket' @{ PrintTicketXml = $Printer.PrintTicket })) { return $false }
    Write-Change "the PrintTicket of $($Printer.Name) was given to the driver"
    $now = Get-Configuration $Printer
    if ($null -eq $now) {
        Add-Remark 'the PrintTicket cannot be read back'
        return $false
    }
    $there = @{}
    foreach ($choice in @(Get-TicketChoice (Get-Property $now 'PrintTicketXML'))) { $there[$choice] = $true }
    $missing = @(Get-TicketChoice $Printer.PrintTicket | Where-Object { -not $there[$_] })
    $names = @($missing | ForEach-Object { ($_ -split '=')[0] -replace '^.* ' } | Select-Object -Unique)
    $remark = ''
    if ($names.Count -gt 5) { $names = @($names[0..4]) + 'others' }
    if ($names.Count -gt 0) { $remark = "the driver leaves out of the PrintTicket: $($names -join ', ')" }
    if ($there.Count -eq 0) { $remark = 'the driver gives no PrintTicket back' }
    if ($remark) { Add-Remark $remark }
    Set-RegistryValue $marker 'TicketRemark' $remark
    return $true
}

function Get-TicketState {
    # A digest of the wanted ticket and of the choices in the one that is read back.
    param($Printer)
    $there = Get-TicketChoice (Get-Property (Get-Configuration $Printer) 'PrintTicketXML')
    $text = $Printer.PrintTicket, (@($there | Sort-Object) -join "`n") -join "`0"
    $stream = [IO.MemoryStream]::new([Text.Encoding]::UTF8.GetBytes($text))
    return (Get-FileHash -InputStream $stream).Hash
}

function Get-TicketChoice {
    # The choices of a ticket as texts: feature=option or parameter=value, with namespaces, because prefixes vary. A
    # snapshot of the driver's own data is left out, because it differs on each machine.
    param([string]$Xml)
    $wanted = '//*[@name and (local-name()="Option" or local-name()="ParameterInit")]'
    $document = $Xml.Trim([char]0xFEFF) -as [xml]
    if ($null -eq $document) { return }
    foreach ($node in $document.SelectNodes($wanted)) {
        $name = Get-TicketName $node
        if ($node.LocalName -eq 'Option') { "$(Get-TicketName $node.ParentNode)=$name" }
        elseif ($name -notlike '*DevmodeSnapshot') { "$name=$($node.InnerText.Trim())" }
    }
}

function Get-TicketName {
    param($Node)
    $parts = $Node.GetAttribute('name').Split(':')
    return "$($Node.GetNamespaceOfPrefix($parts[0])) $($parts[-1])"
}

#</if>
