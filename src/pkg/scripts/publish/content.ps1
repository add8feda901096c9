#region Content

$UploadBlockBytes = 6291456
# Addresses to upload to end after a while.
$RenewSeconds = 450
$MostContents = 3

function Publish-Content {
    # Uploads an app's package as a new content version; its id. The caller has opened the package and commits the version.
    param($App, [string]$AppId, $Info, [string]$Committed)
    for ($try = 1; ; $try++) {
        # What an interrupted run left stands in the way.
        Remove-UnfinishedContent $AppId $Committed
        try {
            return (Send-Content $App $AppId $Info)
        }
        catch {
            $isAgain = (Test-Problem $_ 'Passing') -or (Test-Problem $_ 'NewFile')
            if ($try -ge $MostContents -or -not $isAgain) { throw }
            Write-Log "Begins again: $_"
        }
    }
}

function Get-ContentPath {
    param([string]$AppId)
    return "mobileApps/$AppId/microsoft.graph.win32LobApp/contentVersions"
}

function Remove-UnfinishedContent {
    # Deletes versions that nobody ever committed, with their files; nothing that was ever in use.
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
    # Not sent twice: what is begun again begins with what is there.
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
    # The file as soon as it is in one of the states. Failures are final.
    param([string]$Path, [string[]]$States, [string]$What)
    return Wait-Until {
        $file = Invoke-Graph 'GET' $Path $null @{ Doing = 'say how far the content is'; Again = 404, 409 }
        $state = [string](Get-Field $file 'uploadState')
        if ($States -contains $state) { return $file }
        if ($state -match 'Failed$|TimedOut$|^error$') {
            # A new file may fare better.
            Stop-With "Intune could not $What ($state)." @{ NewFile = $true }
        }
    } "To $What"
}

function Set-UploadUri {
    param($Upload, [string[]]$States)
    $file = Wait-ForState $Upload.Path $States 'give an address to upload to'
    $uri = [string](Get-Field $file 'azureStorageUri')
    if (-not (Test-SafeUrl $uri) -or -not $uri.Contains('?')) { throw 'Intune gave an address to upload to that is none.' }
    $Upload.Uri = $uri
    $Upload.Clock = [Diagnostics.Stopwatch]::StartNew()
}

function Update-UploadUri {
    param($Upload)
    Write-Log 'Renews the address to upload to'
    $null = Invoke-Graph 'POST' "$($Upload.Path)/renewUpload" @{} @{ Doing = 'renew the address to upload to' }
    Set-UploadUri $Upload @('azureStorageUriRenewalSuccess', 'azureStorageUriRequestSuccess')
}

function Save-File {
    # Commits the file: from here on Intune has the keys and checks what it got.
    param([string]$Path, $Info)
    for ($try = 1; ; $try++) {
        try {
            $null = Invoke-Graph 'POST' "$Path/commit" @{ fileEncryptionInfo = $Info.Encryption } @{ Doing = 'commit the content'; Tries = 1 }
            break
        }
        catch {
            if ($try -ge $MostTries -or -not (Test-Problem $_ 'Passing')) { throw }
            $answer = Get-ProblemAnswer $_
            # It may have arrived all the same.
            $file = Invoke-Graph 'GET' $Path $null @{ Doing = 'say how far the content is' }
            if ([string](Get-Field $file 'uploadState') -like 'commitFile*') { break }
            Wait-Pause $answer $try
        }
    }
    $null = Wait-ForState $Path @('commitFileSuccess') 'check the content'
}

#endregion
