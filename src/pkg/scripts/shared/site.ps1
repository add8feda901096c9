#<if subnets>
### The sites of printers
#<if install>
# Why the printer in work does not belong here; empty if it does.
$script:Away = ''
#</if>
$script:Addresses = $null

function Get-SiteDifference {
    # Why this machine is not in the printer's subnets; $null if it is.
    param($Printer)
    if ($Printer.Subnets.Count -eq 0) { return $null }
    if ($null -eq $script:Addresses) { $script:Addresses = @(Get-MachineAddress) }
    if (Test-InSubnet $Printer.Subnets $script:Addresses) { return $null }
    $found = Get-FirstOf $script:Addresses
    if (-not $found) { $found = 'no address' }
    return "not at this site ($($Printer.Name) belongs in $(Get-FirstOf $Printer.Subnets); this machine has $found)"
}

function Get-FirstOf {
    param($Texts)
    $text = @($Texts | Select-Object -First 3) -join ', '
    if ($Texts.Count -gt 3) { $text = "$text and $($Texts.Count - 3) more" }
    return $text
}

#<if detect>
function Get-SkippedText {
    # The last line if no printer belongs here.
    param($Printers)
    #<if many>
    if ($Printers.Count -gt 1) { return "Skipped: not at this site (all $($Printers.Count) printers)" }
    #</if>
    return "Skipped: $(Get-SiteDifference $Printers[0])" -replace '\s+', ' '
}
#</if>
#</if>
