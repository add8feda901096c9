#region HTTP

# The pause after the first failure. It doubles after each further one.
$FirstPauseMs = 1000
$LongestPauseMs = 60000
$MaxTries = 8
# For a host that has not answered yet, because it may not exist.
$TriesOfUnknown = 4
# The longest Retry-After that the script follows.
$LongestAskedMs = 300000
$LongPauseMs = 5000
$RequestSeconds = 300
$MaxAnswerBytes = 67108864
$script:Http = $null
# The hosts that have answered, and those that asked to wait until a time (UTC).
$script:Answered = @{}
$script:NotBefore = @{}

function Open-Http {
    $script:Http = New-Http $true
}

function New-Http {
    param([bool]$UseProxy)
    if ($PSVersionTable.PSVersion.Major -lt 6) {
        Add-Type -AssemblyName 'System.Net.Http'
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        [Net.ServicePointManager]::Expect100Continue = $false
        $proxy = [Net.WebRequest]::DefaultWebProxy
        if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    }
    $handler = [Net.Http.HttpClientHandler]::new()
    if ($PSVersionTable.PSVersion.Major -ge 6) { $handler.DefaultProxyCredentials = [Net.CredentialCache]::DefaultCredentials }
    # A redirect could send the token to another server.
    $handler.AllowAutoRedirect = $false
    $handler.UseCookies = $false
    $handler.UseProxy = $UseProxy
    $http = [Net.Http.HttpClient]::new($handler)
    $http.Timeout = [TimeSpan]::FromSeconds($RequestSeconds)
    $http.MaxResponseContentBufferSize = $MaxAnswerBytes
    return $http
}

function Close-Http {
    if ($null -ne $script:Http) { $script:Http.Dispose() }
    $script:Http = $null
}

function Send-Directly {
    # Sends a request past any proxy.
    param([string]$Method, [string]$Url, $Headers)
    $usual = $script:Http
    $script:Http = New-Http $false
    try { return Send-Request $Method $Url $Headers $null @(404, 410) $TriesOfUnknown }
    finally {
        $script:Http.Dispose()
        $script:Http = $usual
    }
}

function Test-SafeUrl {
    # Secrets are only sent over HTTPS, or to this machine.
    param([string]$Text)
    $url = $null
    if (-not [Uri]::TryCreate($Text, [UriKind]::Absolute, [ref]$url)) { return $false }
    return ($url.Scheme -eq 'https' -or ($url.Scheme -eq 'http' -and $url.IsLoopback))
}

function Wait-Task {
    # Waits for a task in steps, so that Ctrl+C works. Throws the task's error.
    param($Task)
    $tasks = [Threading.Tasks.Task[]]@($Task)
    while (-not $Task.IsCompleted) { $null = [Threading.Tasks.Task]::WaitAny($tasks, 250) }
    if ($Task.IsCanceled) { throw (New-Object TimeoutException -ArgumentList "there was no answer within $RequestSeconds seconds") }
    if ($Task.IsFaulted) { throw $Task.Exception.GetBaseException() }
}

function New-HttpBody {
    param([byte[]]$Bytes, [string]$Type)
    return @{ Bytes = $Bytes; Count = $Bytes.Length; Type = $Type }
}

function Send-Once {
    # Sends one request. Status is 0 if no answer came. Problem then says why.
    param([string]$Method, [string]$Url, $Headers, $Body)
    $answer = @{ Status = 0; Text = ''; Problem = ''; AskedMs = 0; RequestId = ''; ETag = ''; Location = ''; Challenge = ''; Date = $null }
    $message = $null
    $response = $null
    try {
        $message = New-HttpMessage $Method $Url $Headers $Body
        $task = $script:Http.SendAsync($message)
        Wait-Task $task
        $response = $task.Result
        $read = $response.Content.ReadAsByteArrayAsync()
        Wait-Task $read
        $answer.Text = [Text.Encoding]::UTF8.GetString($read.Result)
        $answer.AskedMs = Get-AskedMs $response.Headers.RetryAfter
        $answer.ETag = Get-ResponseHeader $response @('ETag')
        $answer.Location = Get-ResponseHeader $response @('Location')
        $answer.RequestId = Get-ResponseHeader $response @('request-id', 'x-ms-request-id')
        $answer.Date = $response.Headers.Date
        $answer.Challenge = Get-ResponseHeader $response @('WWW-Authenticate')
        $answer.Status = [int]$response.StatusCode
    }
    catch {
        $answer.Problem = $_.Exception.GetBaseException().Message
    }
    finally {
        if ($null -ne $response) { $response.Dispose() }
        if ($null -ne $message) { $message.Dispose() }
    }
    return $answer
}

function New-HttpMessage {
    param([string]$Method, [string]$Url, $Headers, $Body)
    $message = [Net.Http.HttpRequestMessage]::new([Net.Http.HttpMethod]::new($Method), $Url)
    foreach ($name in $Headers.Keys) { $null = $message.Headers.TryAddWithoutValidation($name, [string]$Headers[$name]) }
    if ($null -eq $Body) { return $message }
    # A block makes its content anew for each try.
    if ($Body -is [scriptblock]) { $message.Content = & $Body; return $message }
    # Bytes, because PowerShell would change the encoding of text.
    $message.Content = [Net.Http.ByteArrayContent]::new($Body.Bytes, 0, $Body.Count)
    if ($Body.Type) { $null = $message.Content.Headers.TryAddWithoutValidation('Content-Type', $Body.Type) }
    return $message
}

function Get-ResponseHeader {
    param($Response, [string[]]$Names)
    foreach ($name in $Names) {
        $values = $null
        if ($Response.Headers.TryGetValues($name, [ref]$values)) { return [string]@($values)[0] }
    }
    return ''
}

function Test-Passing {
    # Returns whether the same request may succeed later. $Again: further statuses for which that is so.
    param([int]$Status, [int[]]$Again)
    return ($Status -eq 0 -or $Status -eq 408 -or $Status -eq 429 -or $Status -ge 500 -or $Again -contains $Status)
}

function Send-Request {
    # Sends a request, again after failures that may pass.
    param([string]$Method, [string]$Url, $Headers, $Body, [int[]]$Again = @(), [int]$Tries = $MaxTries)
    $hostName = ([Uri]$Url).Authority
    for ($try = 1; ; $try++) {
        Wait-Asked $hostName
        $answer = Send-Once $Method $Url $Headers $Body
        if ($answer.Status) { $script:Answered[$hostName] = $true }
        if ($answer.AskedMs -gt 0) { $script:NotBefore[$hostName] = [datetime]::UtcNow.AddMilliseconds([Math]::Min($LongestAskedMs, $answer.AskedMs)) }
        if ((Test-LastTry $try $Url $Tries) -or -not (Test-Passing $answer.Status $Again)) { return $answer }
        Wait-Pause $answer $try
    }
}

function Test-LastTry {
    param([int]$Try, [string]$Url, [int]$Tries)
    if (-not $script:Answered.ContainsKey(([Uri]$Url).Authority)) { $Tries = [Math]::Min($Tries, $TriesOfUnknown) }
    return $Try -ge $Tries
}

function Wait-Asked {
    # Waits as long as a host has asked for, whatever is sent to it next.
    param([string]$HostName)
    if (-not $script:NotBefore.ContainsKey($HostName)) { return }
    $rest = ($script:NotBefore[$HostName] - [datetime]::UtcNow).TotalMilliseconds
    $script:NotBefore.Remove($HostName)
    if ($rest -gt 0) { Start-Pause $rest "$HostName asks to wait" }
}

function Wait-Pause {
    # Waits before the next try: as long as the answer asks for, else longer each time.
    param($Answer, [int]$Try)
    $own = [Math]::Min($LongestPauseMs, $FirstPauseMs * [Math]::Pow(2, $Try - 1))
    # Several runs must not try at the same moment.
    $own = $own * (0.75 + 0.5 * [Random]::new().NextDouble())
    $pause = [int][Math]::Min($LongestAskedMs, [Math]::Max($Answer.AskedMs, $own))
    $why = $Answer.Problem
    if ($Answer.Status) { $why = "answer $($Answer.Status)" }
    Start-Pause $pause $why
}

function Start-Pause {
    param([int]$Milliseconds, [string]$Why)
    $text = "Waiting $([Math]::Ceiling($Milliseconds / 1000)) s before the next try ($Why)"
    Write-Log "$text ($Milliseconds ms)"
    # Not every host shows progress.
    if ($Milliseconds -ge $LongPauseMs) { Write-Person $text }
    Write-Step $text
    Start-Sleep -Milliseconds $Milliseconds
}

function Get-AskedMs {
    param($RetryAfter)
    if ($null -eq $RetryAfter) { return 0 }
    if ($null -ne $RetryAfter.Delta) { return $RetryAfter.Delta.TotalMilliseconds }
    if ($null -ne $RetryAfter.Date) { return ($RetryAfter.Date - [DateTimeOffset]::UtcNow).TotalMilliseconds }
    return 0
}

function Stop-With {
    # Throws an error with notes for its callers.
    param([string]$Text, $Notes)
    $problem = New-Object InvalidOperationException -ArgumentList $Text
    foreach ($name in $Notes.Keys) { $problem.Data[$name] = $Notes[$name] }
    throw $problem
}

function Test-Problem {
    # Returns a note of a caught error.
    param($ErrorRecord, [string]$Name)
    return [bool]$ErrorRecord.Exception.Data[$Name]
}

#endregion
