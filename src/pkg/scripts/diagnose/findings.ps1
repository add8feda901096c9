### Findings, and how they are told
# Each is a table of Level (ok, warn, bad), Check, Printer ('' for the machine's) and Text.
$script:Findings = @()
$script:Subject = ''

function Add-Finding {
    param([string]$Level, [string]$Check, [string]$Text)
    $script:Findings += @{ Level = $Level; Check = $Check; Printer = $script:Subject; Text = ConvertTo-OneLine $Text 600 }
}

function Invoke-Check {
    # An error of a check becomes a finding, and the next checks run.
    param([string]$Check, [scriptblock]$Work)
    try {
        $null = & $Work
    }
    catch {
        Add-Finding 'warn' $Check "could not be checked: $($_.Exception.Message)"
    }
}

function ConvertTo-OneLine {
    # Without control characters and those that change the direction of text: devices choose their names.
    param([string]$Text, [int]$Length)
    $plain = ($Text -replace '[\s\p{Cc}\p{Cf}-[\u200c\u200d]]+', ' ').Trim()
    if ($plain.Length -gt $Length) { $plain = $plain.Substring(0, $Length) + '...' }
    return $plain
}

function Get-Verdict {
    # The last finding, of all others.
    $texts = @()
    $level = 'ok'
    foreach ($each in 'warn', 'bad') {
        $found = @($script:Findings | Where-Object { $_.Level -eq $each })
        if ($found.Count -eq 0) { continue }
        $level = $each
        $texts = @("$($found.Count) $each") + $texts
        $first = $found[0]
    }
    if ($level -eq 'ok') { return @{ Level = $level; Check = 'verdict'; Printer = ''; Text = "nothing wrong in $($script:Findings.Count) findings" } }
    $text = "$($texts -join ', '), first $(Get-FindingText $first)"
    return @{ Level = $level; Check = 'verdict'; Printer = ''; Text = $text }
}

function Get-FindingText {
    # With the printer's name where there are several.
    param($Finding)
    $text = "$($Finding.Check): $($Finding.Text)"
    if ($Finding.Printer -and @($Settings.Printers).Count -gt 1) { $text = "$(ConvertTo-OneLine $Finding.Printer 250): $text" }
    return $text
}

function Write-Result {
    # Writes everything that was found, as lines or as one JSON document, and returns nothing else.
    $verdict = Get-Verdict
    $all = @($script:Findings) + $verdict
    $script:ExitCode = [int]($verdict.Level -eq 'bad')
    if (-not $AsJson) {
        foreach ($finding in $all) { Write-Output ('{0,-5}{1}' -f $finding.Level, (Get-FindingText $finding)) }
        return
    }
    $items = @(foreach ($finding in $all) {
            [ordered]@{ level = $finding.Level; check = $finding.Check; printer = $finding.Printer; text = $finding.Text }
        })
    $json = ConvertTo-Json -InputObject ([ordered]@{ exitCode = $script:ExitCode; findings = $items }) -Depth 4 -Compress
    # ASCII, whatever the console or the tool that reads it makes of other characters.
    $escape = { param($character) '\u{0:x4}' -f [int][char]$character.Value }
    Write-Output ([regex]::Replace($json, '[^\x20-\x7e]', $escape))
}

