#<if package>
#region The driver's files

#<if download>
$script:TemporaryFolders = @()

#</if>
function Get-DriverFolder {
    # Where the driver's files are: downloaded into a temporary folder, or in a package beside this script. A script that
    # came alone may lie in a folder that others write into, and takes nothing from there.
    param($Driver)
    #<if download>
    if ($Driver.Download) { return Save-Driver $Driver }
    #</if>
    if ($PSScriptRoot) {
        $beside = "$PSScriptRoot\$($Driver.Folder)"
        if (Test-Path -LiteralPath "$beside\$($Driver.Inf)" -PathType Leaf) { return $beside }
    }
    Stop-Run "The driver's files are missing: expected $($Driver.Inf) in the folder $($Driver.Folder) beside this script."
}

#<if download>
function Save-Driver {
    # Downloads the driver's files, checks their digest and unpacks them; the folder they are in.
    param($Driver)
    $folder = Join-Path ([IO.Path]::GetTempPath()) "platen-$([guid]::NewGuid().ToString('N'))"
    $null = [IO.Directory]::CreateDirectory($folder)
    $script:TemporaryFolders += $folder
    $archive = Join-Path $folder 'driver.zip'
    # What stands behind it opens the service, and is nobody's business. What the service says of a refusal is in $_.
    $from = $Driver.Download -replace '\?.*'
    Write-Log "Downloading $from"
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $proxy = [Net.WebRequest]::DefaultWebProxy
    if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    try { Invoke-WebRequest -Uri $Driver.Download -OutFile $archive -UseBasicParsing -TimeoutSec 1200 }
    catch {
        Stop-Run "The driver could not be downloaded from ${from}: $_"
    }
    $found = (Get-FileHash -LiteralPath $archive).Hash
    if ($found -ne $Driver.FilesSha256) {
        Stop-Run "The downloaded driver is not the expected one: its SHA-256 is $found, not $($Driver.FilesSha256)."
    }
    Add-Type -AssemblyName 'System.IO.Compression.FileSystem'
    $target = Join-Path $folder 'driver'
    [IO.Compression.ZipFile]::ExtractToDirectory($archive, $target, [Text.Encoding]::UTF8)
    return $target
}
#</if>

#endregion
#</if>
