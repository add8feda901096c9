#region Checking the payload

function Test-Payload {
    # Reads the whole payload. It begins with its HMAC, which Detection.xml also contains.
    param($App, $Info)
    $name = $App.Package.FileName
    $hmac = [Security.Cryptography.HMACSHA256]::new([Convert]::FromBase64String($Info.Encryption.macKey))
    $stream = Open-Payload $App
    try {
        $says = New-Object 'byte[]' -ArgumentList $MacBytes
        $null = Read-Full $stream $says $MacBytes
        Read-Payload $stream ($Info.Size - $MacBytes) $hmac $name
        $is = [Convert]::ToBase64String($hmac.Hash)
    }
    finally {
        $stream.Dispose()
        $hmac.Dispose()
    }
    if ($is -cne $Info.Encryption.mac -or [Convert]::ToBase64String($says) -cne $is) { throw "$name is damaged: its checksum is wrong." }
}

function Read-Payload {
    # Updates the HMAC with this many bytes.
    param($Stream, [long]$Size, $Hmac, [string]$Name)
    $buffer = New-Object 'byte[]' -ArgumentList $BufferBytes
    $read = [long]0
    while ($read -lt $Size) {
        $count = Read-Full $Stream $buffer ([Math]::Min($BufferBytes, $Size - $read))
        if ($count -eq 0) { throw "$Name ends too early." }
        $null = $Hmac.TransformBlock($buffer, 0, $count, $null, 0)
        $read += $count
        Write-Step "Checking $Name" ([int](100 * $read / $Size))
    }
    $null = $Hmac.TransformFinalBlock($buffer, 0, 0)
}

function Read-Full {
    # Fills a buffer as far as the stream has bytes, and returns their number.
    param($Stream, [byte[]]$Buffer, [int]$Wanted)
    $filled = 0
    while ($filled -lt $Wanted) {
        $count = $Stream.Read($Buffer, $filled, $Wanted - $filled)
        if ($count -eq 0) { break }
        $filled += $count
    }
    return $filled
}

#endregion
