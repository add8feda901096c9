# A queue's preferences, on the machine of Windows.psm1: four settings by name, and all of them as a PrintTicket. The
# driver keeps the options of a ticket and returns another ticket with the same options: with its own prefixes, an
# additional feature, and a snapshot of its own data that differs each time.

$script:PrintSchema = 'http://schemas.microsoft.com/windows/2003/08/printing/printschema'
# The features and options of a ticket that stand for two of the four settings.
$script:TicketModes = @{
    JobDuplexAllDocumentsContiguously = @{ Setting = 'DuplexingMode'; OneSided = 'OneSided'; TwoSidedLongEdge = 'TwoSidedLongEdge'; TwoSidedShortEdge = 'TwoSidedShortEdge' }
    PageOutputColor = @{ Setting = 'Color'; Color = $true; Monochrome = $false }
}

function Get-SimulatedQueue {
    param([string]$Name, [string]$Cmdlet)
    $problem = Get-SpoolerError $Cmdlet
    $queue = @($script:M.Queues | Where-Object { $_.Name -eq $Name -and -not $_.Leaving })[0]
    if (-not $problem -and -not $queue) { $problem = New-PrintError '0x80070709' $Cmdlet 'Der angegebene Drucker wurde nicht gefunden.' }
    return @{ Queue = $queue; Problem = $problem }
}

function ConvertTo-SimulatedTicket {
    param($Queue)
    $xml = [Text.StringBuilder]::new("<?xml version=`"1.0`" encoding=`"UTF-8`"?>`r`n<f:PrintTicket xmlns:f=`"${script:PrintSchema}framework`" xmlns:k=`"${script:PrintSchema}keywords`" version=`"1`">`r`n")
    $features = [Collections.Generic.SortedDictionary[string, string]]::new()
    if ($Queue.Ticket) { foreach ($name in $Queue.Ticket.Features.Keys) { $features[$name] = $Queue.Ticket.Features[$name] } }
    foreach ($mode in $script:TicketModes.Keys) {
        $setting = $script:TicketModes[$mode]
        $value = $Queue.Configuration[$setting.Setting]
        $option = @($setting.Keys | Where-Object { $_ -ne 'Setting' -and $setting[$_] -eq $value })[0]
        if ($option) { $features["${script:PrintSchema}keywords $mode"] = "${script:PrintSchema}keywords $option" }
    }
    $features['urn:driver Own'] = 'urn:driver Default'
    foreach ($name in $features.Keys) {
        $featureNamespace, $feature = $name -split ' '
        $optionNamespace, $option = $features[$name] -split ' '
        $null = $xml.Append("`t<f:Feature xmlns:a=`"$featureNamespace`" name=`"a:$feature`">`r`n`t`t<f:Option xmlns:b=`"$optionNamespace`" name=`"b:$option`"/>`r`n`t</f:Feature>`r`n")
    }
    $parameters = @{ 'urn:driver PageDevmodeSnapshot' = "Um$($script:M.Now)$(@($script:Calls).Count)" }
    if ($Queue.Ticket) { foreach ($name in $Queue.Ticket.Parameters.Keys) { $parameters[$name] = $Queue.Ticket.Parameters[$name] } }
    foreach ($name in $parameters.Keys) {
        $parameterNamespace, $parameter = $name -split ' '
        $value = [Security.SecurityElement]::Escape($parameters[$name])
        $null = $xml.Append("`t<f:ParameterInit xmlns:a=`"$parameterNamespace`" name=`"a:$parameter`"><f:Value>$value</f:Value></f:ParameterInit>`r`n")
    }
    return "$($xml.Append('</f:PrintTicket>'))"
}

function Set-SimulatedTicket {
    # Applies a ticket as the driver does. Throws if the XML is no PrintTicket.
    param($Queue, [string]$Xml)
    $document = [xml]$Xml
    $root = $document.DocumentElement
    if ($root.LocalName -ne 'PrintTicket' -or $root.NamespaceURI -ne "${script:PrintSchema}framework") { throw 'kein PrintTicket' }
    $qualifiedName = { param($node) $parts = $node.GetAttribute('name').Split(':'); "$($node.GetNamespaceOfPrefix($parts[0])) $($parts[-1])" }
    $taken = @{ Features = @{}; Parameters = @{} }
    foreach ($option in $document.SelectNodes('//*[local-name()="Feature"]/*[local-name()="Option"]')) {
        $feature = & $qualifiedName $option.ParentNode
        $local = ($feature -split ' ')[-1]
        if ($script:M.TicketDrops -contains $local) { continue }
        $mode = $script:TicketModes[$local]
        $value = (& $qualifiedName $option)
        if ($mode) { $Queue.Configuration[$mode.Setting] = $mode[($value -split ' ')[-1]] } else { $taken.Features[$feature] = $value }
    }
    foreach ($parameter in $document.SelectNodes('//*[local-name()="ParameterInit"]')) {
        $name = & $qualifiedName $parameter
        if ($name -notlike '*Snapshot') { $taken.Parameters[$name] = $parameter.InnerText }
    }
    $Queue.Ticket = $taken
}

function Get-PrintConfiguration {
    [CmdletBinding()] param([string]$PrinterName, [Parameter(ValueFromPipeline = $true)]$PrinterObject)
    process {
        Enter-Call 'Get-PrintConfiguration'
        if ($PrinterObject) { $PrinterName = $PrinterObject.Name }
        $found = Get-SimulatedQueue $PrinterName 'Get-PrintConfiguration'
        if ($found.Problem) { $PSCmdlet.WriteError($found.Problem); return }
        $configuration = Copy-Table $found.Queue.Configuration
        $configuration.PrintTicketXML = $(if ($script:M.TicketUnreadable) { '' } else { ConvertTo-SimulatedTicket $found.Queue })
        [pscustomobject]$configuration
    }
}

function Set-PrintConfiguration {
    [CmdletBinding()] param([string]$PrinterName, [string]$DuplexingMode, [bool]$Color, [bool]$Collate, [string]$PaperSize, [string]$PrintTicketXml)
    Enter-Call 'Set-PrintConfiguration'
    $found = Get-SimulatedQueue $PrinterName 'Set-PrintConfiguration'
    $problem = $found.Problem
    $names = @($PSBoundParameters.Keys | Where-Object { $_ -in 'DuplexingMode', 'Color', 'Collate', 'PaperSize', 'PrintTicketXml' })
    if (-not $problem -and @($names | Where-Object { $script:M.Refuses -contains $_ }).Count -gt 0) { $problem = New-PrintError '0x80070032' 'Set-PrintConfiguration' 'Die Anforderung wird nicht unterstuetzt.' }
    if ($problem) { $PSCmdlet.WriteError($problem); return }
    foreach ($name in @($names | Where-Object { $script:M.Ignores -notcontains $_ })) {
        if ($name -ne 'PrintTicketXml') { $found.Queue.Configuration[$name] = $PSBoundParameters[$name]; continue }
        try { Set-SimulatedTicket -Queue $found.Queue -Xml $PrintTicketXml }
        catch { $PSCmdlet.WriteError((New-PrintError '0x80070057' 'Set-PrintConfiguration' 'Falscher Parameter.')); return }
    }
}
