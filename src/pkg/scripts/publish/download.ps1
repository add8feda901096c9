#region Downloading the package from Platen

function Save-Package {
    # Downloads the package to a temporary file, which is deleted when it is closed.
    param($App)
    $wanted = $App.Package
    if (-not $wanted.Url) { throw 'This script does not know the address of Platen. Download the package and use -Package.' }
    $path = [IO.Path]::Combine([IO.Path]::GetTempPath(), "platen-$([guid]::NewGuid().ToString('N')).intunewin")
    $options = [IO.FileOptions]::DeleteOnClose
    $file = [IO.FileStream]::new($path, [IO.FileMode]::CreateNew, [IO.FileAccess]::ReadWrite, [IO.FileShare]::None, 65536, $options)
    try {
        # Windows deletes it even if the script is killed. Elsewhere a deleted file stays readable while it is open.
        if ($path.StartsWith('/')) { [IO.File]::Delete($path) }
        for ($try = 1; $file.Position -lt $wanted.Size; $try++) {
            $before = $file.Position
            $problem = Receive-Part $wanted $file
            if ($file.Position -ge $wanted.Size) { break }
            # Progress starts the count of tries again.
            if ($file.Position - $before -ge $BufferBytes) { $try = 1 }
            if (Test-LastTry $try $wanted.Url $MaxTries) { Stop-Unfetched $wanted $problem }
            Wait-Pause $problem $try
        }
        if ($file.Length -ne $wanted.Size) { Stop-Changed $wanted }
        $file.Position = 0
        return $file
    }
    catch {
        $file.Dispose()
        throw
    }
}

function Stop-Unfetched {
    # Without any answer, no other app can be downloaded either.
    param($Wanted, $Problem)
    $text = "$($Wanted.FileName) could not be downloaded from $(Get-PackageAddress $Wanted): $($Problem.Problem)"
    if ($Problem.Status) { throw $text }
    Stop-With "$text. If this PC cannot reach Platen, download the packages and use -Package." @{ Fatal = $true }
}

function Get-PackageAddress {
    # The query may be a link with rights, so messages leave it out.
    param($Wanted)
    return $Wanted.Url -replace '\?.*'
}

function Stop-Changed {
    param($Wanted)
    Stop-Final "The package at $(Get-PackageAddress $Wanted) has changed since this script was made. Download the script again."
}

function Receive-Part {
    # Downloads what is missing of a package, as far as it comes. Returns what stopped it, as an answer.
    param($Wanted, $File)
    $answer = @{ Status = 0; Problem = ''; AskedMs = 0 }
    $message = $null
    $response = $null
    try {
        $headers = @{ Accept = '*/*'; 'If-Range' = "`"$($Wanted.ETag)`"" }
        if ($File.Position -gt 0) { $headers.Range = "bytes=$($File.Position)-" }
        else { $headers.Remove('If-Range') }
        $message = New-HttpMessage 'GET' $Wanted.Url $headers $null
        $task = $script:Http.SendAsync($message, [Net.Http.HttpCompletionOption]::ResponseHeadersRead)
        Wait-Task $task
        $response = $task.Result
        $answer.Status = [int]$response.StatusCode
        $script:Answered[([Uri]$Wanted.Url).Authority] = $true
        $answer.AskedMs = Get-AskedMs $response.Headers.RetryAfter
        Write-Log "GET $(Get-PackageAddress $Wanted) -> $($answer.Status)"
        if (Test-Passing $answer.Status @()) { $answer.Problem = "answer $($answer.Status)" }
        else { Save-Answer $Wanted $response $File }
    }
    catch {
        if (Test-Problem $_ 'Final') { throw }
        $answer.Status = 0
        $answer.Problem = $_.Exception.GetBaseException().Message
    }
    finally {
        if ($null -ne $response) { $response.Dispose() }
        if ($null -ne $message) { $message.Dispose() }
    }
    return $answer
}

function Save-Answer {
    param($Wanted, $Response, $File)
    $status = [int]$Response.StatusCode
    if ($status -ne 200 -and $status -ne 206) { Stop-Fetch $Wanted $Response }
    $tag = ''
    if ($null -ne $Response.Headers.ETag) { $tag = $Response.Headers.ETag.Tag.Trim([char]34) }
    if ($tag -ne $Wanted.ETag) { Stop-Changed $Wanted }
    # The server sent the whole file instead of a part.
    if ($status -eq 200) { $File.SetLength(0) }
    $open = $Response.Content.ReadAsStreamAsync()
    Wait-Task $open
    $stream = $open.Result
    $buffer = New-Object 'byte[]' -ArgumentList $BufferBytes
    while ($true) {
        $read = $stream.ReadAsync($buffer, 0, $buffer.Length)
        Wait-Read $read
        if ($read.Result -eq 0) { return }
        if ($File.Position + $read.Result -gt $Wanted.Size) { Stop-Final "Platen sends more bytes than $($Wanted.FileName) has." }
        Write-Part $File $buffer $read.Result
        Write-Step "Downloading $([Math]::Floor($File.Position / 1048576)) of $([Math]::Ceiling($Wanted.Size / 1048576)) MB: $($Wanted.FileName)" ([int](100 * $File.Position / $Wanted.Size))
    }
}

function Read-Start {
    # The first 4 KB of an answer's text.
    param($Response)
    $open = $Response.Content.ReadAsStreamAsync()
    Wait-Task $open
    $buffer = New-Object 'byte[]' -ArgumentList 4096
    $count = 0
    while ($count -lt $buffer.Length) {
        $read = $open.Result.ReadAsync($buffer, $count, $buffer.Length - $count)
        Wait-Read $read
        if ($read.Result -eq 0) { break }
        $count += $read.Result
    }
    return [Text.Encoding]::UTF8.GetString($buffer, 0, $count)
}

function Write-Part {
    param($File, [byte[]]$Buffer, [int]$Count)
    try {
        $File.Write($Buffer, 0, $Count)
    }
    catch {
        Stop-Final "The package cannot be saved in $([IO.Path]::GetTempPath()): $($_.Exception.GetBaseException().Message)"
    }
}

function Wait-Read {
    # Treats a connection as broken when it brings nothing for too long.
    param($Task)
    $clock = [Diagnostics.Stopwatch]::StartNew()
    $tasks = [Threading.Tasks.Task[]]@($Task)
    while (-not $Task.IsCompleted) {
        if ($clock.Elapsed.TotalSeconds -gt $RequestSeconds) { throw (New-Object TimeoutException) }
        $null = [Threading.Tasks.Task]::WaitAny($tasks, 250)
    }
    Wait-Task $Task
}

function Stop-Final {
    # Throws an error that no further try can avoid.
    param([string]$Text)
    Stop-With $Text @{ Final = $true }
}

function Stop-Fetch {
    param($Wanted, $Response)
    $status = [int]$Response.StatusCode
    $said = (Read-Start $Response) -replace '<[^>]{0,200}>' -replace $Unprintable, ' '
    $said = $said.Substring(0, [Math]::Min(300, $said.Length)).Trim()
    $text = "Platen refused $($Wanted.FileName) at $(Get-PackageAddress $Wanted): answer $status"
    if ($said) { $text += ", $said" }
    $text = $text.TrimEnd('.') + '. Download the script again.'
    Stop-Final $text
}

#endregion
