#region HTTP

# Doubled after each failure.
$FirstPauseMs = 1000
$LongestPauseMs = 60000
$MostTries = 8
# Of a host that has not answered yet: it is not there, or its name is wrong.
$TriesOfUnknown = 4
# What a service may ask to wait for.
$LongestAskedMs = 300000
$LongPauseMs = 5000
$RequestSeconds = 300
$MostAnswerBytes = 67108864
$script:Http = $null
$script:Answered = @{}

function Open-Http {
    if ($PSVersionTable.PSVersion.Major -lt 6) {
        Add-Type -AssemblyName 'System.Net.Http'
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        [Net.ServicePointManager]::Expect100Continue = $false
        $proxy = [Net.WebRequest]::DefaultWebProxy
        if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    }
    $handler = [Net.Http.HttpClientHandler]::new()
    if ($PSVersionTable.PSVersion.Major -ge 6) { $handler.DefaultProxyCredentials = [Net.CredentialCache]::DefaultCredentials }
    # A token goes nowhere else.
    $handler.AllowAutoRedirect = $false
    $handler.UseCookies = $false
    $script:Http = [Net.Http.HttpClient]::new($handler)
    $script:Http.Timeout = [TimeSpan]::FromSeconds($RequestSeconds)
    $script:Http.MaxResponseContentBufferSize = $MostAnswerBytes
}

function Close-Http {
    if ($null -ne $script:Http) { $script:Http.Dispose() }
    $script:Http = $null
}

function Test-SafeUrl {
    # Nothing secret goes over a network in the clear.
    param([string]$Text)
    $url = $null
    if (-not [Uri]::TryCreate($Text, [UriKind]::Absolute, [ref]$url)) { return $false }
    return ($url.Scheme -eq 'https' -or ($url.Scheme -eq 'http' -and $url.IsLoopback))
}

function Wait-Task {
    # Until a task is done, in steps: Ctrl+C has its turn in between. Throws what it failed with.
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
    # One request. Status is 0 where no answer came, and Problem then says why.
    param([string]$Method, [string]$Url, $Headers, $Body)
    $answer = @{ Status = 0; Text = ''; Problem = ''; AskedMs = 0; RequestId = ''; ETag = '' }
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
        $answer.RequestId = Get-ResponseHeader $response @('request-id', 'x-ms-request-id')
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
    # Bytes: PowerShell's own commands would change what they take for text.
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
    # Whether the same request may succeed a little later. $Again: further statuses that pass by here.
    param([int]$Status, [int[]]$Again)
    return ($Status -eq 0 -or $Status -eq 408 -or $Status -eq 429 -or $Status -ge 500 -or $Again -contains $Status)
}

function Send-Request {
    # Sends until there is an answer that time does not change, or too often.
    param([string]$Method, [string]$Url, $Headers, $Body, [int[]]$Again = @(), [int]$Tries = $MostTries)
    for ($try = 1; ; $try++) {
        $answer = Send-Once $Method $Url $Headers $Body
        if ($answer.Status) { $script:Answered[([Uri]$Url).Authority] = $true }
        if ((Test-LastTry $try $Url $Tries) -or -not (Test-Passing $answer.Status $Again)) { return $answer }
        Wait-Pause $answer $try
    }
}

function Test-LastTry {
    param([int]$Try, [string]$Url, [int]$Tries)
    if (-not $script:Answered.ContainsKey(([Uri]$Url).Authority)) { $Tries = [Math]::Min($Tries, $TriesOfUnknown) }
    return $Try -ge $Tries
}

function Wait-Pause {
    # Before the next try: as long as the answer asks for, and longer each time where it asks for nothing.
    param($Answer, [int]$Try)
    $own = [Math]::Min($LongestPauseMs, $FirstPauseMs * [Math]::Pow(2, $Try - 1))
    # Not all at the same moment.
    $own = $own * (0.75 + 0.5 * [Random]::new().NextDouble())
    $pause = [int][Math]::Min($LongestAskedMs, [Math]::Max($Answer.AskedMs, $own))
    $why = $Answer.Problem
    if ($Answer.Status) { $why = "answer $($Answer.Status)" }
    Write-Log "Waits $pause ms and tries again ($why)"
    # Progress is not seen everywhere.
    if ($pause -ge $LongPauseMs) { Write-Host "Waiting $([Math]::Ceiling($pause / 1000)) s before the next try ($($why -replace $Unprintable, ' '))" }
    Write-Step "Waiting $([Math]::Ceiling($pause / 1000)) s before the next try ($why)"
    Start-Sleep -Milliseconds $pause
}

function Get-AskedMs {
    param($RetryAfter)
    if ($null -eq $RetryAfter) { return 0 }
    if ($null -ne $RetryAfter.Delta) { return $RetryAfter.Delta.TotalMilliseconds }
    if ($null -ne $RetryAfter.Date) { return ($RetryAfter.Date - [DateTimeOffset]::UtcNow).TotalMilliseconds }
    return 0
}

function Stop-With {
    # Throws a problem with what its callers have to know of it.
    param([string]$Text, $Notes)
    $problem = New-Object InvalidOperationException -ArgumentList $Text
    foreach ($name in $Notes.Keys) { $problem.Data[$name] = $Notes[$name] }
    throw $problem
}

function Test-Problem {
    # What was noted of a problem that was caught.
    param($ErrorRecord, [string]$Name)
    return [bool]$ErrorRecord.Exception.Data[$Name]
}

#endregion
