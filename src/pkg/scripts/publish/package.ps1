#region The package

$BufferBytes = 1048576
$MaxDetectionBytes = 65536
$PayloadName = 'IntuneWinPackage/Contents/IntunePackage.intunewin'
$DetectionName = 'IntuneWinPackage/Metadata/Detection.xml'
# An encrypted payload: HMAC (32 bytes), initialization vector (16 bytes), then blocks of 16 bytes.
$MacBytes = 32
$PrefixBytes = 48
$BlockBytes = 16
$script:PackageStream = $null
$script:PackageZip = $null

function Open-Package {
    # Opens an app's .intunewin, checks that it is the one of this script and undamaged, and returns what Detection.xml says.
    param($App)
    Close-Package
    Add-Type -AssemblyName 'System.IO.Compression'
    if ($Package) { $script:PackageStream = Open-GivenPackage $App }
    else { $script:PackageStream = Save-Package $App }
    $wanted = $App.Package
    try {
        $script:PackageZip = [IO.Compression.ZipArchive]::new($script:PackageStream, [IO.Compression.ZipArchiveMode]::Read)
    }
    catch {
        throw "$($wanted.FileName) is not a valid .intunewin: $($_.Exception.GetBaseException().Message)"
    }
    $info = Read-Detection $wanted
    $info.Size = (Get-PackageEntry $wanted $PayloadName).Length
    $cipher = [Math]::Floor($info.PlainSize / $BlockBytes) * $BlockBytes + $BlockBytes
    if ($info.Size -ne $cipher + $PrefixBytes) { Stop-OtherPackage $wanted }
    Test-Payload $App $info
    return $info
}

function Stop-OtherPackage {
    param($Wanted)
    throw "$($Wanted.FileName) is not the package that this script was made for. Download both from Platen again."
}

function Get-PackagePath {
    # .NET and PowerShell have different current folders.
    return $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Package)
}

function Open-GivenPackage {
    param($App)
    $path = Get-PackagePath
    if ([IO.Directory]::Exists($path)) { $path = [IO.Path]::Combine($path, $App.Package.FileName) }
    if (-not [IO.File]::Exists($path)) { throw "There is no file $path." }
    $stream = [IO.File]::Open($path, [IO.FileMode]::Open, [IO.FileAccess]::Read, [IO.FileShare]::Read)
    if ($stream.Length -eq $App.Package.Size) { return $stream }
    $stream.Dispose()
    if (@($script:Target.Part.Apps).Count -gt 1 -and [IO.Path]::GetFileName($path) -ne $App.Package.FileName) {
        throw "This script publishes several apps. Use -Package with the folder that contains $($App.Package.FileName) and the others."
    }
    Stop-OtherPackage $App.Package
}

function Close-Package {
    if ($null -ne $script:PackageZip) { $script:PackageZip.Dispose() }
    if ($null -ne $script:PackageStream) { $script:PackageStream.Dispose() }
    $script:PackageZip = $null
    $script:PackageStream = $null
}

function Get-PackageEntry {
    param($Wanted, [string]$Name)
    $entry = $script:PackageZip.GetEntry($Name)
    if ($null -eq $entry) { throw "$($Wanted.FileName) is not a valid .intunewin: it has no $Name." }
    return $entry
}

function Open-Payload {
    # The encrypted payload as a stream. The ZIP stores it uncompressed.
    param($App)
    return (Get-PackageEntry $App.Package $PayloadName).Open()
}

function Read-Detection {
    # Reads Detection.xml, which contains the keys and the HMAC. Its digest is checked before it is parsed.
    param($Wanted)
    $bytes = Read-DetectionBytes $Wanted
    if ((Get-Sha256 $bytes) -ne $Wanted.DetectionSha256) { Stop-OtherPackage $Wanted }
    $document = [Xml.XmlDocument]::new()
    $document.LoadXml([Text.Encoding]::UTF8.GetString($bytes))
    $texts = @{}
    foreach ($name in 'UnencryptedContentSize', 'FileName', 'EncryptionKey', 'MacKey', 'InitializationVector', 'Mac', 'ProfileIdentifier', 'FileDigest', 'FileDigestAlgorithm') {
        $texts[$name] = $document.SelectSingleNode("//*[local-name()='$name']").InnerText
    }
    return @{ PlainSize = [long]$texts.UnencryptedContentSize; FileName = $texts.FileName; Encryption = (Get-EncryptionInfo $texts) }
}

function Read-DetectionBytes {
    param($Wanted)
    $buffer = New-Object 'byte[]' -ArgumentList $MaxDetectionBytes
    $stream = (Get-PackageEntry $Wanted $DetectionName).Open()
    try {
        $count = Read-Full $stream $buffer $buffer.Length
    }
    finally {
        $stream.Dispose()
    }
    $bytes = New-Object 'byte[]' -ArgumentList $count
    [Array]::Copy($buffer, $bytes, $count)
    return , $bytes
}

function Get-EncryptionInfo {
    # The form that Graph expects at the commit.
    param($Texts)
    return @{
        encryptionKey = $Texts.EncryptionKey
        macKey = $Texts.MacKey
        initializationVector = $Texts.InitializationVector
        mac = $Texts.Mac
        profileIdentifier = $Texts.ProfileIdentifier
        fileDigest = $Texts.FileDigest
        fileDigestAlgorithm = $Texts.FileDigestAlgorithm
    }
}

#endregion
