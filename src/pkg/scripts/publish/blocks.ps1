#region Blocks (Azure block blobs)

$MaxRefusals = 6
# The storage may refuse a new address for a moment.
$RefusedPauseMs = 2000

function Send-Payload {
    # Uploads the payload in blocks, then the list of the blocks.
    param($App, $Info, $Upload)
    $buffer = New-Object 'byte[]' -ArgumentList $UploadBlockBytes
    $ids = New-Object Text.StringBuilder
    $sent = [long]0
    $stream = Open-Payload $App
    try {
        for ($number = 0; $sent -lt $Info.Size; $number++) {
            $count = Read-Full $stream $buffer $UploadBlockBytes
            if ($count -eq 0) { throw "$($App.Package.FileName) ends too early." }
            Update-Lease
            if ($Upload.Clock.Elapsed.TotalSeconds -ge $RenewSeconds) { Update-UploadUri $Upload }
            # All ids must have the same length.
            $id = [Convert]::ToBase64String([Text.Encoding]::ASCII.GetBytes($number.ToString('D8')))
            Send-Blob $Upload "comp=block&blockid=$([Uri]::EscapeDataString($id))" @{ Bytes = $buffer; Count = $count; Type = 'application/octet-stream' }
            $null = $ids.Append("<Latest>$id</Latest>")
            $sent += $count
            Write-Step "Uploading $([Math]::Floor($sent / 1048576)) of $([Math]::Ceiling($Info.Size / 1048576)) MB: $($App.Fields.displayName)" ([int](100 * $sent / $Info.Size))
        }
    }
    finally {
        $stream.Dispose()
    }
    $list = "<?xml version=`"1.0`" encoding=`"utf-8`"?><BlockList>$ids</BlockList>"
    Send-Blob $Upload 'comp=blocklist' (New-HttpBody ([Text.Encoding]::UTF8.GetBytes($list)) 'application/xml')
}

function Send-Blob {
    # Sends a request to the storage. Its address is a secret, so it is not logged, and no token is sent with it.
    param($Upload, [string]$What, $Body)
    $headers = @{}
    if ($What -ne 'comp=blocklist') { $headers['x-ms-blob-type'] = 'BlockBlob' }
    for ($refusal = 1; ; $refusal++) {
        $answer = Send-Request 'PUT' "$($Upload.Uri)&$What" $headers $Body
        Write-Log "PUT to the storage, $What -> $($answer.Status) $($answer.RequestId)"
        if ($answer.Status -eq 201) { return }
        if ($answer.Status -ne 403 -or $refusal -ge $MaxRefusals) { Stop-Blob $answer }
        # First the same address again, then a new one each time.
        if ($refusal -eq 1) { Start-Sleep -Milliseconds $RefusedPauseMs }
        else { Update-UploadUri $Upload }
    }
}

function Stop-Blob {
    param($Answer)
    $why = "no answer ($($Answer.Problem))"
    if ($Answer.Status) {
        $why = "$($Answer.Status)"
        if ($Answer.Text -match '<Code>([A-Za-z0-9]{1,80})</Code>') { $why += " $($Matches[1])" }
        if ($Answer.RequestId) { $why += " (request id $($Answer.RequestId))" }
    }
    Stop-With "The storage refused the content: $why." @{ Passing = (Test-Passing $Answer.Status @()) }
}

#endregion
