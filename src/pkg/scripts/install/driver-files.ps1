#<if package>
#region The driver's files

#<if download>
# Removed at the end of the run.
$script:TemporaryFolders = @()

#</if>
function Get-DriverFolder {
    # Where the driver's files are: beside this script, or downloaded into a temporary folder.
    param($Driver)
    if ($PSScriptRoot) {
        $beside = "$PSScriptRoot\$($Driver.Folder)"
        if (Test-Path -LiteralPath "$beside\$($Driver.Inf)" -PathType Leaf) { return $beside }
    }
    #<if download>
    if ($Driver.Download) { return Save-Driver -Driver $Driver }
    #</if>
    Stop-Run -Message "The driver's files are missing: expected $($Driver.Inf) in the folder $($Driver.Folder) beside this script."
}

#<if download>
function Save-Driver {
    # Downloads the driver's files, checks their digest and unpacks them; the folder they are in.
    param($Driver)
    $folder = [IO.Path]::Combine([IO.Path]::GetTempPath(), 'platen-' + [guid]::NewGuid().ToString('N'))
    $null = [IO.Directory]::CreateDirectory($folder)
    $script:TemporaryFolders += $folder
    $archive = [IO.Path]::Combine($folder, 'driver.zip')
    Write-Log -Message "Downloading $($Driver.Download)"
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $proxy = [Net.WebRequest]::DefaultWebProxy
    if ($null -ne $proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
    try {
        $null = Invoke-WebRequest -Uri $Driver.Download -OutFile $archive -UseBasicParsing -TimeoutSec 1200
    }
    catch {
        Stop-Run -Message "The driver could not be downloaded from $($Driver.Download): $($_.Exception.Message)"
    }
    $found = (Get-FileHash -LiteralPath $archive -Algorithm SHA256).Hash
    if ($found -ne $Driver.FilesSha256) {
        Stop-Run -Message "The downloaded driver is not the expected one: its SHA-256 is $found, not $($Driver.FilesSha256)."
    }
    Add-Type -AssemblyName 'System.IO.Compression.FileSystem'
    $target = [IO.Path]::Combine($folder, 'driver')
    [IO.Compression.ZipFile]::ExtractToDirectory($archive, $target, [Text.Encoding]::UTF8)
    return $target
}
#</if>

#endregion
#</if>
