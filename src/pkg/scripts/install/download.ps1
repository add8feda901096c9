#<if download|files>
$script:TemporaryFolders = @()

function New-TemporaryFolder {
    # A folder with a random name. The script removes it at the end.
    $folder = Join-Path ([IO.Path]::GetTempPath()) "platen-$([guid]::NewGuid().ToString('N'))"
    $null = [IO.Directory]::CreateDirectory($folder)
    $script:TemporaryFolders += $folder
    return $folder
}

#<if download|preferences-download>
function Save-Download {
    # Downloads a file and checks its SHA-256. While the service is busy or out of reach, waits as Retry-After says, five
    # minutes at most.
    param([string]$What, [string]$Url, [string]$Path, [string]$Sha256)
    # The part after the question mark may be a secret.
    $from = $Url -replace '\?.*'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $proxy = [Net.WebRequest]::DefaultWebProxy
    if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    for ($try = 1; ; $try++) {
        Write-Log "Downloading $from"
        try {
            Invoke-WebRequest -Uri $Url -OutFile $Path -UseBasicParsing -TimeoutSec 1200
            break
        }
        catch {
            $problem = "The $What could not be downloaded from ${from}: $_"
            $response = $null
            if ($_.Exception.PSObject.Properties['Response']) { $response = $_.Exception.Response }
            # No response: the service cannot be reached, the connection was lost, or its certificate is not trusted.
            $isUntrusted = "$($_.Exception) $($_.Exception.InnerException)" -match 'AuthenticationException'
            if ($isUntrusted -or ($null -ne $response -and [int]$response.StatusCode -notin 429, 502, 503, 504)) { Stop-Run $problem }
            $pause = 15
            if ($null -ne $response -and $response.Headers.ToString() -match 'Retry-After:\s*([0-9]{1,5})') { $pause = [Math]::Max(1, [int]$Matches[1]) }
            if ($try -ge 20 -or $watch.Elapsed.TotalSeconds + $pause -gt 300) { Stop-Run "$problem Try again later." $ExitBusy }
            Write-Log "$problem Trying again in $pause seconds."
            Start-Sleep -Seconds $pause
        }
    }
    $found = (Get-FileHash -LiteralPath $Path).Hash
    if ($found -ne $Sha256) { Stop-Run "The downloaded $What is not the expected one: its SHA-256 is $found, not $Sha256." }
}
#</if>
#</if>
