#region Microsoft Graph

# The pause before the next question about a state. It doubles each time.
$PollMs = 1000
$LongestPollMs = 10000
$PollSeconds = 900
$MaxPages = 1000

function ConvertFrom-Answer {
    # $null where the answer is no JSON. Texts that look like dates stay texts in PowerShell 7.5 and later.
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
    # Returns Graph's answer, and throws what Graph refuses. $Path: below deviceAppManagement, or with / below the host. $How:
    # Doing (for the message), Again (further statuses to try again after), Allow (statuses that return $null), Tries.
    param([string]$Method, [string]$Path, $Content, $How = @{})
    $url = $Path
    if ($Path.StartsWith('/')) { $url = "$($script:Graph)$Path" }
    elseif ($Path -notmatch '^https?:') { $url = "$($script:Graph)/beta/deviceAppManagement/$Path" }
    $body = $null
    if ($null -ne $Content) {
        $json = ConvertTo-Json -InputObject $Content -Depth 12 -Compress
        $body = New-HttpBody ([Text.Encoding]::UTF8.GetBytes($json)) 'application/json'
    }
    $tries = $MaxTries
    if ($How.ContainsKey('Tries')) { $tries = $How.Tries }
    $answer = Send-Signed $Method $url $body @($How['Again']) $tries
    Write-Log "$Method $($url -replace '\?.*') -> $($answer.Status) $($answer.RequestId)"
    if ($answer.Status -ge 200 -and $answer.Status -lt 300) {
        if (-not $answer.Text) { return $null }
        $said = ConvertFrom-Answer $answer
        if ($null -eq $said) { throw "Graph answered $($answer.Status) without JSON ($Method $Path)." }
        return $said
    }
    if (@($How['Allow']) -contains $answer.Status) { return $null }
    Stop-Graph $answer "$($How['Doing'])"
}

function Send-Signed {
    # Sends a request with the token. A token that Graph refuses is renewed at most twice, by a refresh or by a new sign-in.
    param([string]$Method, [string]$Url, $Body, [int[]]$Again, [int]$Tries)
    for ($round = 1; ; $round++) {
        Connect-Graph
        $headers = @{ Authorization = "Bearer $($script:Access.Token)"; Accept = 'application/json' }
        $answer = Send-Request $Method $Url $headers $Body $Again $Tries
        if ($null -ne $answer.Date) { $script:GraphAhead = $answer.Date.UtcDateTime - [datetime]::UtcNow }
        if ($answer.Status -ne 401 -or $round -gt 2 -or -not (Restore-Access $answer)) { return $answer }
    }
}

function Restore-Access {
    # Returns whether there is another token after one that Graph refused. Graph may name claims, such as a second factor.
    param($Answer)
    $access = $script:Access
    if ($Answer.Challenge -match 'claims="([A-Za-z0-9+/_=-]+)"') {
        $claims = Read-Claims ".$($Matches[1].TrimEnd('='))."
        if ($null -ne $claims) { $access.Claims = ConvertTo-Json -InputObject $claims -Depth 8 -Compress }
    }
    if (Update-Token) { return $true }
    if ($PersonalWays -notcontains $access.Way) { return $false }
    Write-Line 'Microsoft asks you to sign in again.'
    Receive-Access $access.Claims
    return $true
}

function Stop-Graph {
    # Throws what Graph answered. Passing: the same request may succeed later. Fatal: no other app of this tenant will succeed.
    param($Answer, [string]$Doing)
    $text = "Intune did not $Doing"
    if (-not $Answer.Status) { $text += ": there was no answer from $script:Graph ($($Answer.Problem))" }
    else {
        $text += ": $($Answer.Status) $(Get-GraphMessage $Answer)"
        if ($Answer.RequestId) { $text += " (request id $($Answer.RequestId))" }
    }
    if ($Answer.Status -eq 401 -and $null -ne $AccessToken) { $text += '. The token is not valid, not for Microsoft Graph, or has ended: get a new one' }
    elseif ($Answer.Status -eq 401) { $text += '. The sign-in has ended: run the script again' }
    if ($Answer.Status -eq 403) { $text += ". $(Get-PermissionText $Doing)" }
    Stop-With "$text." @{
        Status = $Answer.Status
        Passing = (Test-Passing $Answer.Status @())
        AskedMs = $Answer.AskedMs
        Fatal = ($Answer.Status -eq 401 -or $Answer.Status -eq 403)
    }
}

function Get-PermissionText {
    # What a refused request needs.
    param([string]$Doing)
    $ofNames = @{ group = 'GroupMember.Read.All'; filter = 'DeviceManagementConfiguration.Read.All'; 'scope tag' = 'DeviceManagementRBAC.Read.All' }
    foreach ($what in $ofNames.Keys) {
        if ($Doing -like "look for the $what *") { return "Names of ${what}s need the permission $($ofNames[$what]), which an administrator of the tenant grants" }
    }
    return 'The account needs the permission DeviceManagementApps.ReadWrite.All, which an administrator of the tenant grants, and a role in Intune that may manage apps'
}

function Get-GraphMessage {
    # The code and the message. Intune's message may be JSON itself.
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
    # The answer that caused a problem, as far as the next try needs it.
    param($ErrorRecord)
    $data = $ErrorRecord.Exception.Data
    return @{ Status = $data['Status']; Problem = $ErrorRecord.Exception.Message; AskedMs = [double]$data['AskedMs'] }
}

function Get-GraphList {
    # All items of a list, page by page. The token is only sent to Graph, so the address of the next page is checked.
    # $Again: statuses to try again after, as new apps answer them for a moment.
    param([string]$Path, [string]$Doing, [int[]]$Again = (404, 409))
    $next = $Path
    for ($page = 0; $next; $page++) {
        if ($page -ge $MaxPages) { throw "Graph's list does not end ($Doing)." }
        $said = Invoke-Graph 'GET' $next $null @{ Doing = $Doing; Again = $Again }
        $list = $null
        if ($null -ne $said) { $list = $said.PSObject.Properties['value'] }
        # The next request may replace the whole list, so a list that is not understood is not an empty one.
        if ($null -eq $list -or $list.Value -isnot [Array]) { throw "Graph answered without a list ($Doing)." }
        foreach ($item in $list.Value) {
            if ($null -eq $item -or $item -is [ValueType] -or $item -is [string]) { throw "Graph's list has an item that is no object ($Doing)." }
            $item
        }
        $next = [string](Get-Field $said '@odata.nextLink')
        if ($next -and -not $next.StartsWith("$($script:Graph)/", [StringComparison]::OrdinalIgnoreCase)) {
            throw "Graph's list continues at an address of another server ($Doing)."
        }
    }
}

function Get-Id {
    # The id in an answer. It becomes part of addresses.
    param($Object, [string]$Doing)
    $id = [string](Get-Field $Object 'id')
    if ($id -notmatch '\A[A-Za-z0-9][A-Za-z0-9_-]{0,99}\z') { throw "Graph answered without an id ($Doing)." }
    return $id
}

function Wait-Until {
    # Asks until a block returns something. Throws when that takes too long.
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
