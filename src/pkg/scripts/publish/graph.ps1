#region Microsoft Graph

# Answers that change by themselves are asked for again after so long; later longer.
$PollMs = 1000
$LongestPollMs = 10000
$PollSeconds = 900
# A list is at most so many pages.
$MostPages = 1000

function ConvertFrom-Answer {
    # $null where it is no JSON. Texts that look like dates are texts; before PowerShell 7.5 it cannot be told so.
    param($Answer)
    $how = @{}
    if ($PSVersionTable.PSVersion -ge [version]'7.5') { $how.DateKind = 'String' }
    try {
        return ConvertFrom-Json -InputObject $Answer.Text @how
    }
    catch {
        return $null
    }
}

function Invoke-Graph {
    # What Graph answers to a request; throws what it refuses. $How: Doing (for the message), Again (further statuses that
    # pass by), Allow (statuses that are answered with $null), Tries.
    param([string]$Method, [string]$Path, $Content, $How = @{})
    Connect-Graph
    $url = $Path
    if ($Path -notmatch '^https?:') { $url = "$($script:Graph)/beta/deviceAppManagement/$Path" }
    $body = $null
    if ($null -ne $Content) {
        $json = ConvertTo-Json -InputObject $Content -Depth 12 -Compress
        $body = New-HttpBody ([Text.Encoding]::UTF8.GetBytes($json)) 'application/json'
    }
    $tries = $MostTries
    if ($How.ContainsKey('Tries')) { $tries = $How.Tries }
    $answer = Send-Signed $Method $url $body @($How['Again']) $tries
    Write-Log "$Method $($url -replace '\?.*') -> $($answer.Status) $($answer.RequestId)"
    if ($answer.Status -ge 200 -and $answer.Status -lt 300) {
        if (-not $answer.Text) { return $null }
        $said = ConvertFrom-Answer $answer
        if ($null -eq $said) { throw "Graph answered $($answer.Status) with what is no JSON ($Method $Path)." }
        return $said
    }
    if (@($How['Allow']) -contains $answer.Status) { return $null }
    Stop-Graph $answer "$($How['Doing'])"
}

function Send-Signed {
    # A token that is over is renewed once.
    param([string]$Method, [string]$Url, $Body, [int[]]$Again, [int]$Tries)
    for ($round = 1; ; $round++) {
        $headers = @{ Authorization = "Bearer $($script:Token)"; Accept = 'application/json' }
        $answer = Send-Request $Method $Url $headers $Body $Again $Tries
        if ($answer.Status -ne 401 -or $round -gt 1 -or -not (Update-Token)) { return $answer }
    }
}

function Stop-Graph {
    # Throws what Graph said. Passing: the same may succeed later. Fatal: no other app will fare better.
    param($Answer, [string]$Doing)
    $text = "Intune did not $Doing"
    if (-not $Answer.Status) { $text += ": there was no answer from $script:Graph ($($Answer.Problem))" }
    else {
        $text += ": $($Answer.Status) $(Get-GraphMessage $Answer)"
        if ($Answer.RequestId) { $text += " (request id $($Answer.RequestId))" }
    }
    if ($Answer.Status -eq 401 -and $AccessToken) { $text += '. The token is not valid, not for Microsoft Graph, or not any more: get a new one' }
    elseif ($Answer.Status -eq 401) { $text += '. The sign-in is over: run the script again' }
    if ($Answer.Status -eq 403) {
        $text += '. The account needs the permission DeviceManagementApps.ReadWrite.All, which an administrator of the tenant grants, and a role in Intune that may manage apps'
    }
    Stop-With "$text." @{
        Status = $Answer.Status
        Passing = (Test-Passing $Answer.Status @())
        AskedMs = $Answer.AskedMs
        Fatal = ($Answer.Status -eq 401 -or $Answer.Status -eq 403)
    }
}

function Get-GraphMessage {
    # The code and the message, which may be JSON itself.
    param($Answer)
    $problem = Get-Field (ConvertFrom-Answer $Answer) 'error'
    if ($null -eq $problem) { return '' }
    $message = [string](Get-Field $problem 'message')
    if ($message.TrimStart().StartsWith('{')) {
        $inner = Get-Field (ConvertFrom-Answer @{ Text = $message }) 'Message'
        if ($inner) { $message = [string]$inner }
    }
    return "$(Get-Field $problem 'code'): $message".Trim().TrimEnd('.')
}

function Get-ProblemAnswer {
    # The answer that made a problem, as far as the next try needs it.
    param($ErrorRecord)
    $data = $ErrorRecord.Exception.Data
    return @{ Status = $data['Status']; Problem = $ErrorRecord.Exception.Message; AskedMs = [double]$data['AskedMs'] }
}

function Get-GraphList {
    # All items of a list, page by page. The next page's address comes from outside: a token goes to Graph alone.
    # $Again: statuses that pass by, as those of an app that is a moment old.
    param([string]$Path, [string]$Doing, [int[]]$Again = (404, 409))
    $next = $Path
    for ($page = 0; $next; $page++) {
        if ($page -ge $MostPages) { throw "Graph's list does not end ($Doing)." }
        $said = Invoke-Graph 'GET' $next $null @{ Doing = $Doing; Again = $Again }
        $list = $null
        if ($null -ne $said) { $list = $said.PSObject.Properties['value'] }
        # What is not understood must not be taken for nothing: what is sent next replaces the whole list.
        if ($null -eq $list -or $list.Value -isnot [Array]) { throw "Graph answered with what is no list ($Doing)." }
        foreach ($item in $list.Value) {
            if ($null -eq $item -or $item -is [ValueType] -or $item -is [string]) { throw "Graph's list has what is no object ($Doing)." }
            $item
        }
        $next = [string](Get-Field $said '@odata.nextLink')
        if ($next -and -not $next.StartsWith("$($script:Graph)/", [StringComparison]::OrdinalIgnoreCase)) {
            throw "Graph's list goes on at an address that is not its own ($Doing)."
        }
    }
}

function Get-Id {
    # The id of what an answer is of; it goes into addresses.
    param($Object, [string]$Doing)
    $id = [string](Get-Field $Object 'id')
    if ($id -notmatch '\A[A-Za-z0-9][A-Za-z0-9_-]{0,99}\z') { throw "Graph answered without an id ($Doing)." }
    return $id
}

function Wait-Until {
    # Asks until a block answers something. Throws where that takes too long.
    param([scriptblock]$Ask, [string]$Title)
    $pause = $PollMs
    $clock = [Diagnostics.Stopwatch]::StartNew()
    while ($true) {
        $answer = & $Ask
        if ($null -ne $answer) { return $answer }
        if ($clock.Elapsed.TotalSeconds -ge $PollSeconds) { throw "$Title takes longer than $PollSeconds seconds. Run the script again." }
        Start-Sleep -Milliseconds $pause
        $pause = [Math]::Min($LongestPollMs, $pause * 2)
    }
}

#endregion
