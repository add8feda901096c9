#region Checking the payload

function Test-Payload {
    # Reads it once: its HMAC must be what it says, and the ZIP inside must end as this script knows it: its directory has
    # the checksums of all files.
    param($App, $Info)
    $keys = $Info.Encryption
    $wanted = $App.Package
    # The end is decrypted from a block's beginning on, for which the block before it is needed.
    $start = [Math]::Floor(($Info.PlainSize - $wanted.TailSize) / $BlockBytes) * $BlockBytes
    $from = $MacBytes + $start
    $end = [IO.MemoryStream]::new()
    $hmac = [Security.Cryptography.HMACSHA256]::new([Convert]::FromBase64String($keys.macKey))
    $stream = Open-Payload $App
    try {
        $mac = Read-Payload $stream $Info.Size $hmac $end $from $wanted.FileName
    }
    finally {
        $stream.Dispose()
        $hmac.Dispose()
    }
    $plain = Get-PlainEnd $keys $end.ToArray()
    $skipped = $Info.PlainSize - $wanted.TailSize - $start
    if ($mac.Is -ne $keys.mac -or $mac.Says -ne $keys.mac) { throw "$($wanted.FileName) is damaged: its checksum is wrong." }
    if ($plain.Length -ne $skipped + $wanted.TailSize) { Stop-OtherPackage $wanted }
    $sha = [Security.Cryptography.SHA256]::Create()
    $digest = [BitConverter]::ToString($sha.ComputeHash($plain, $skipped, $wanted.TailSize)).Replace('-', '')
    $sha.Dispose()
    if ($digest -ne $wanted.TailSha256) { Stop-OtherPackage $wanted }
}

function Read-Payload {
    # Passes the payload through the HMAC and keeps what stands behind $From. Base64: Says is what it begins with, Is what
    # was computed.
    param($Stream, [long]$Size, $Hmac, $End, [long]$From, [string]$Name)
    $buffer = New-Object 'byte[]' -ArgumentList $BufferBytes
    $says = New-Object 'byte[]' -ArgumentList $MacBytes
    if ((Read-Full $Stream $says $MacBytes) -lt $MacBytes) { throw "$Name ends too early." }
    $position = [long]$MacBytes
    while ($position -lt $Size) {
        $count = Read-Full $Stream $buffer $BufferBytes
        if ($count -eq 0) { throw "$Name ends too early." }
        $null = $Hmac.TransformBlock($buffer, 0, $count, $null, 0)
        $skip = [Math]::Max(0, $From - $position)
        if ($skip -lt $count) { $End.Write($buffer, $skip, $count - $skip) }
        $position += $count
        Write-Step "Checking $Name" ([int](100 * $position / $Size))
    }
    $null = $Hmac.TransformFinalBlock($buffer, 0, 0)
    return @{ Says = [Convert]::ToBase64String($says); Is = [Convert]::ToBase64String($Hmac.Hash) }
}

function Read-Full {
    # Fills a buffer as far as there is anything; the number of bytes.
    param($Stream, [byte[]]$Buffer, [int]$Wanted)
    $filled = 0
    while ($filled -lt $Wanted) {
        $count = $Stream.Read($Buffer, $filled, $Wanted - $filled)
        if ($count -eq 0) { break }
        $filled += $count
    }
    return $filled
}

function Get-PlainEnd {
    # Decrypts the blocks behind the first one.
    param($Keys, [byte[]]$Blocks)
    $aes = [Security.Cryptography.Aes]::Create()
    try {
        $aes.Key = [Convert]::FromBase64String($Keys.encryptionKey)
        $iv = New-Object 'byte[]' -ArgumentList $BlockBytes
        [Array]::Copy($Blocks, $iv, $BlockBytes)
        $aes.IV = $iv
        $decryptor = $aes.CreateDecryptor()
        $plain = $decryptor.TransformFinalBlock($Blocks, $BlockBytes, $Blocks.Length - $BlockBytes)
    }
    catch {
        throw 'The package does not decrypt with its own key.'
    }
    finally {
        $aes.Dispose()
    }
    return , $plain
}

#endregion
