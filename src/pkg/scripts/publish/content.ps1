#region Content

$UploadBlockBytes = 6291456
# The address for the upload is renewed after this time.
$RenewSeconds = 450
$MaxContents = 3

function Publish-Content {
    # Uploads an app's package as a new content version, and returns its id. The caller opens the package before and commits
    # the version afterwards.
    param($App, [string]$AppId, $Info, [string]$Committed)
    for ($try = 1; ; $try++) {
        # Intune refuses a new version while an interrupted run's unfinished one is there.
        Remove-UnfinishedContent $AppId $Committed
        try {
            return (Send-Content $App $AppId $Info)
        }
        catch {
            $isAgain = (Test-Problem $_ 'Passing') -or (Test-Problem $_ 'NewFile')
            if ($try -ge $MaxContents -or -not $isAgain) { throw }
            Write-Log "Starts the upload again: $_"
        }
    }
}

function Get-ContentPath {
    param([string]$AppId)
    return "mobileApps/$AppId/microsoft.graph.win32LobApp/contentVersions"
}

function Remove-UnfinishedContent {
    # Deletes versions that were never committed, with their files. This run has the app's lease, so no other run uploads them.
    param([string]$AppId, [string]$Committed)
    $versions = Get-ContentPath $AppId
    foreach ($version in @(Get-GraphList $versions 'list the content')) {
        $id = Get-Id $version 'list the content'
        if ($id -eq $Committed) { continue }
        $files = @(Get-GraphList "$versions/$id/files" 'list the files of the content')
        if (@($files | Where-Object { Get-Field $_ 'isCommitted' }).Count -gt 0) { continue }
        foreach ($file in $files) {
            $null = Invoke-Graph 'DELETE' "$versions/$id/files/$(Get-Id $file 'list the files of the content')" $null @{ Doing = 'delete an unfinished file'; Allow = 404 }
        }
        $null = Invoke-Graph 'DELETE' "$versions/$id" $null @{ Doing = 'delete an unfinished content version'; Allow = 404 }
    }
}

function Send-Content {
    param($App, [string]$AppId, $Info)
    $versions = Get-ContentPath $AppId
    # Sent once: a second try begins with a look at the versions.
    $made = Invoke-Graph 'POST' $versions @{} @{ Doing = 'make a content version'; Again = 404, 409; Tries = 1 }
    $version = Get-Id $made 'make a content version'
    $wanted = @{
        '@odata.type' = '#microsoft.graph.mobileAppContentFile'
        name = $Info.FileName
        size = $Info.PlainSize
        sizeEncrypted = $Info.Size
        manifest = $null
        isDependency = $false
    }
    $file = Get-Id (Invoke-Graph 'POST' "$versions/$version/files" $wanted @{ Doing = 'make a file of the content'; Tries = 1 }) 'make a file of the content'
    $upload = @{ Path = "$versions/$version/files/$file"; Uri = ''; Clock = $null }
    Set-UploadUri $upload @('azureStorageUriRequestSuccess')
    Send-Payload $App $Info $upload
    Save-File $upload.Path $Info
    return $version
}

function Wait-ForState {
    # Waits until the file has one of the states, and returns it. A failure is final for this file.
    param([string]$Path, [string[]]$States, [string]$What)
    return Wait-Until {
        Update-Lease
        $file = Invoke-Graph 'GET' $Path $null @{ Doing = 'say how far the content is'; Again = 404, 409 }
        $state = [string](Get-Field $file 'uploadState')
        if ($States -contains $state) { return $file }
        if ($state -match 'Failed$|TimedOut$|^error$') {
            # Intune may accept a new file.
            Stop-With "Intune could not $What ($state)." @{ NewFile = $true }
        }
    } "To $What"
}

function Set-UploadUri {
    param($Upload, [string[]]$States)
    $file = Wait-ForState $Upload.Path $States 'give an address for the upload'
    $uri = [string](Get-Field $file 'azureStorageUri')
    if (-not (Test-SafeUrl $uri) -or -not $uri.Contains('?')) { throw 'Intune answered without a valid address for the upload.' }
    $Upload.Uri = $uri
    $Upload.Clock = [Diagnostics.Stopwatch]::StartNew()
}

function Update-UploadUri {
    param($Upload)
    Write-Log 'Renews the address for the upload'
    $null = Invoke-Graph 'POST' "$($Upload.Path)/renewUpload" @{} @{ Doing = 'renew the address for the upload' }
    Set-UploadUri $Upload @('azureStorageUriRenewalSuccess', 'azureStorageUriRequestSuccess')
}

function Save-File {
    # Commits the file: Intune gets the keys and checks the content.
    param([string]$Path, $Info)
    for ($try = 1; ; $try++) {
        try {
            $null = Invoke-Graph 'POST' "$Path/commit" @{ fileEncryptionInfo = $Info.Encryption } @{ Doing = 'commit the content'; Tries = 1 }
            break
        }
        catch {
            if ($try -ge $MaxTries -or -not (Test-Problem $_ 'Passing')) { throw }
            $answer = Get-ProblemAnswer $_
            # The request may have arrived.
            $file = Invoke-Graph 'GET' $Path $null @{ Doing = 'say how far the content is' }
            if ([string](Get-Field $file 'uploadState') -like 'commitFile*') { break }
            Wait-Pause $answer $try
        }
    }
    $null = Wait-ForState $Path @('commitFileSuccess') 'check the content'
}

#endregion
