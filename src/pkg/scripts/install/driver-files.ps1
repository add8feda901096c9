#<if package>
function Get-DriverFolder {
    # The folder with the driver's files, beside this script.
    param($Driver)
    #<if download>
    # A script that was downloaded alone may be in a folder in which others can write, so it takes nothing from there.
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
    # Downloads the driver's files and unpacks them. Returns their folder.
    param($Driver)
    $folder = New-TemporaryFolder
    $archive = Join-Path $folder 'driver.zip'
    Save-Download 'driver' $Driver.Download $archive $Driver.FilesSha256
    Add-Type -AssemblyName 'System.IO.Compression.FileSystem'
    $target = Join-Path $folder 'driver'
    [IO.Compression.ZipFile]::ExtractToDirectory($archive, $target, [Text.Encoding]::UTF8)
    return $target
}
#</if>
#</if>
