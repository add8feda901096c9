#region Detection and requirement rules

$RuleType = '#microsoft.graph.win32LobAppPowerShellScriptRule'
$RequirementName = 'The machine is in its subnets'

function Get-ScriptText {
    # A script's file in base64, with its signature. Its lines end with CR LF, even if an editor has changed those of this file.
    param($Script)
    $frame = $Settings.Frames[$Script.Frame]
    $text = (($frame.Before, $Script.Settings, $frame.After -join "`n") + $Script.Signature) -replace "`r?`n", "`r`n"
    return [Convert]::ToBase64String([Text.Encoding]::ASCII.GetBytes($text))
}

function Get-OurRules {
    param($App)
    @{
        '@odata.type' = $RuleType
        ruleType = 'detection'
        enforceSignatureCheck = [bool]$App.Detection.Signature
        runAs32Bit = $false
        scriptContent = (Get-ScriptText $App.Detection)
        operationType = 'notConfigured'
        operator = 'notConfigured'
    }
    if ($null -eq $App.Requirement) { return }
    @{
        '@odata.type' = $RuleType
        ruleType = 'requirement'
        displayName = $RequirementName
        enforceSignatureCheck = [bool]$App.Requirement.Signature
        runAs32Bit = $false
        runAsAccount = 'system'
        scriptContent = (Get-ScriptText $App.Requirement)
        operationType = 'string'
        operator = 'equal'
        comparisonValue = 'applicable'
    }
}

function Get-WantedRules {
    # All rules of an app, if they differ from those it has: ours, and the requirements that an administrator added. $null if
    # nothing differs. Detection rules of others are always replaced.
    param($App, $Current)
    $ours = @(Get-OurRules $App)
    $there = @(Get-List $Current 'rules')
    $others = @($there | Where-Object { (Get-Field $_ 'ruleType') -ne 'detection' -and (Get-Field $_ 'displayName') -ne $RequirementName })
    $same = 0
    foreach ($rule in $ours) {
        $text = Get-Canonical $rule $rule
        $same += @($there | Where-Object { (Get-Canonical $_ $rule) -ceq $text } | Select-Object -First 1).Count
    }
    if ($same -eq $ours.Count -and $there.Count -eq $ours.Count + $others.Count) { return $null }
    return , @($ours + $others)
}

#endregion
