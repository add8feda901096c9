<#
.SYNOPSIS
Uploads printer drivers of this PC to Platen.

.DESCRIPTION
Made by Platen. Run it on a PC or print server that has the driver, with Windows PowerShell 5.1 or PowerShell 7. The script
lists the printer drivers for the PC's own architecture and asks for one. It zips the driver's package from the driver store
and uploads the ZIP. It changes nothing on the PC. Drivers that come with Windows are left out, because Platen needs no
package of them. Administrator rights are needed only if pnputil.exe must export a package.

Exit codes:
0  all chosen drivers are in Platen; or -WhatIf listed them
2  some drivers were not uploaded; their lines say why
1  nothing was uploaded; the last lines say why

.PARAMETER Name
The driver to upload, by its whole name, without regard to case.

.PARAMETER All
Uploads all drivers.

.PARAMETER Url
The address of Platen, if this script does not know it.

.PARAMETER Token
A token of Platen for uploading drivers (page Tokens), as a SecureString. The script asks for it where Platen does.

.PARAMETER AllowHttp
Also sends the token to an address without encryption. Only for a network that you trust.

.EXAMPLE
.\from-pc.ps1
Lists the drivers, asks for one, and uploads it.

.EXAMPLE
.\from-pc.ps1 -All -Token (Read-Host -AsSecureString)
Uploads all drivers of a print server where Platen asks for a sign-in.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [string]$Name = '',
    [switch]$All,
    [string]$Url = '',
    # Without a type, because PowerShell's message about a wrong type would show the value.
    [object]$Token = $null,
    [switch]$AllowHttp
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

# Uploading a large driver takes long, and Platen itself ends requests that stall.
$RequestSeconds = 7200
$UploadTries = 3
$ControlKey = 'HKLM:\SYSTEM\CurrentControlSet\Control'
# A package as Windows keeps it, in a folder of its own.
$StoredInf = '\\FileRepository\\[^\\]+\\[^\\]+\.inf\z'

### The drivers of this PC

function Get-MachineEnvironment {
    # What Windows calls the PC's architecture. An x64 process on ARM64 would see x64 in its own variables.
    $key = Get-Item -LiteralPath "$ControlKey\Session Manager\Environment"
    return @{ AMD64 = 'Windows x64'; x86 = 'Windows NT x86'; ARM64 = 'Windows ARM64' }[[string]$key.GetValue('PROCESSOR_ARCHITECTURE')]
}

function Get-InstalledDriver {
    $environment = Get-MachineEnvironment
    # A driver's name may contain characters that a path may not.
    $keys = @{}
    foreach ($type in 'Version-3', 'Version-4') {
        foreach ($key in @(Get-ChildItem -LiteralPath "$ControlKey\Print\Environments\$environment\Drivers\$type" -ErrorAction SilentlyContinue)) {
            $keys[($key.Name -split '\\')[-1]] = @{ Version = [string]$key.GetValue('DriverVersion'); Inf = [string]$key.GetValue('InfPath') }
        }
    }
    $queues = @(Get-Printer -ErrorAction Stop)
    foreach ($driver in @(Get-PrinterDriver -ErrorAction Stop | Sort-Object -Property 'Name')) {
        $known = @{ Version = ''; Inf = '' }
        if ($keys.ContainsKey($driver.Name)) { $known = $keys[$driver.Name] }
        $inf = Select-Inf @([string]$driver.InfPath, $known.Inf)
        @{
            Name        = $driver.Name
            Environment = $driver.PrinterEnvironment
            IsHere      = $driver.PrinterEnvironment -eq $environment
            Version     = $known.Version
            Inf         = $inf
            IsOfWindows = Test-OfWindows $inf ([string]$driver.Manufacturer)
            Queues      = @($queues | Where-Object { $_.DriverName -eq $driver.Name } | ForEach-Object { $_.Name })
        }
    }
}

function Select-Inf {
    # The best of the paths that Windows names: an INF in the driver store, else the name under which it is published.
    param([string[]]$Paths)
    foreach ($path in $Paths) { if ($path.Replace('/', '\') -match $StoredInf -and [IO.File]::Exists($path)) { return $path } }
    foreach ($path in $Paths) { if ($path -match '(?:\A|[\\/])(oem[0-9]+\.inf)\z') { return $Matches[1] } }
    return [string]@($Paths | Where-Object { $_ })[0]
}

function Test-OfWindows {
    # Returns whether a driver comes with Windows. Windows publishes the INFs of others as oemNN.inf, and its own unchanged.
    param([string]$Inf, [string]$Maker)
    $file = ($Inf -split '[\\/]')[-1]
    if ($Maker -eq 'Microsoft' -or $file -match '\A(?:ntprint|prnms|prnge|tsprint)[^.]*\.inf\z') { return $true }
    if (-not $file -or -not [IO.File]::Exists($Inf)) { return $false }
    $published = [IO.Path]::Combine($env:windir, 'INF', $file)
    return [IO.File]::Exists($published) -and [IO.File]::ReadAllText($published) -ceq [IO.File]::ReadAllText($Inf)
}

function Select-Driver {
    # The drivers to upload: by the parameters, else by an answer.
    $installed = @(Get-InstalledDriver)
    $offered = @($installed | Where-Object { $_.IsHere -and -not $_.IsOfWindows })
    if ($Name) {
        $named = @($installed | Where-Object { $_.Name -eq $Name } | Sort-Object -Property { -not $_.IsHere })[0]
        if ($null -eq $named) { throw "This PC has no driver '$Name'. $(Get-OfferedText $offered)" }
        if ($named.IsOfWindows) { throw "The driver '$($named.Name)' comes with Windows. Platen needs no package of it." }
        if (-not $named.IsHere) { throw "The driver '$($named.Name)' is here for $($named.Environment) only. Run this script on such a PC." }
        return $named
    }
    if ($offered.Count -eq 0) { throw (Get-OfferedText $offered) }
    if ($All -or $WhatIfPreference) { return $offered }
    for ($i = 0; $i -lt $offered.Count; $i++) { Write-Line "$($i + 1)  $(Get-DriverText $offered[$i])" }
    try { $answer = Read-Host -Prompt 'Number of the driver' }
    catch { throw 'This session cannot ask. Use -Name or -All.' }
    $number = 0
    if ([int]::TryParse($answer, [ref]$number) -and $number -ge 1 -and $number -le $offered.Count) { return $offered[$number - 1] }
    throw "There is no driver with the number '$answer'."
}

function Get-OfferedText {
    param($Offered)
    if ($Offered.Count -eq 0) { return 'This PC has only drivers that come with Windows. Platen needs no package of them.' }
    return "It has: $(Get-FirstText @($Offered | ForEach-Object { $_.Name }))."
}

function Get-DriverText {
    param($Driver)
    $use = 'no queue'
    if ($Driver.Queues.Count -gt 0) { $use = Get-FirstText $Driver.Queues }
    return "$($Driver.Name) $($Driver.Version) ($use)"
}

### Platen

function Get-ServiceUrl {
    $address = [string]@($Url, $Settings.Url | Where-Object { $_ })[0]
    if (-not $address) { throw 'This script does not know the address of Platen. Use -Url.' }
    if ($address -notmatch '\Ahttps?://[!-~]+\z') { throw '-Url takes an address that begins with https:// or http://.' }
    return $address.TrimEnd('/')
}

function Test-Token {
    if ($null -eq $Token) { return }
    if ($Token -isnot [Security.SecureString]) { throw '-Token takes a SecureString: (Read-Host -AsSecureString).' }
    if ($AllowHttp -or (Test-SafeUrl $script:Service)) { return }
    throw "$script:Service is not encrypted: others in the network could read the token. Use -Url with https, or -AllowHttp in a network that you trust."
}

function Send-ToPlaten {
    param([string]$Method, [string]$Path, $Body)
    Test-Token
    $headers = @{ Accept = 'text/plain' }
    if ($null -ne $Token) { $headers.Authorization = "Bearer $([Net.NetworkCredential]::new('', $Token).Password)" }
    # A proxy that refuses a large file then answers before it is sent.
    if ($Body) { $headers.Expect = '100-continue' }
    $answer = Send-Request $Method "$script:Service$Path" $headers $Body @() $UploadTries
    Write-Log "$Method $Path -> $($answer.Status) $($answer.Problem)"
    return $answer
}

function Connect-Platen {
    # Asks before anything is zipped whether Platen accepts drivers from here. Asks the user for a token if Platen wants one.
    $answer = Send-ToPlaten 'GET' '/drivers/from-pc'
    if ($answer.Status -eq 401 -and $null -eq $Token) {
        try { $script:Token = Read-Host -Prompt 'Token for uploading drivers (page Tokens)' -AsSecureString }
        catch { throw 'Platen asks for a sign-in. Use -Token with a token for uploading drivers (page Tokens).' }
        $answer = Send-ToPlaten 'GET' '/drivers/from-pc'
    }
    if ($answer.Status -ne 200) { throw (Get-RefusalText $answer) }
}

function Get-RefusalText {
    param($Answer)
    if (-not $Answer.Status) { return "Platen did not answer: $($Answer.Problem)" }
    if ($Answer.Location) { return "Platen's address leads to $($Answer.Location). Use -Url with the address that the browser shows." }
    $text = ($Answer.Text -replace $Unprintable, ' ').Trim()
    if ($text -notmatch '\A<') { return "Platen answered $($Answer.Status): $text" }
    # Platen answers this script without markup.
    if ($Answer.Status -eq 413) { return 'a proxy in front of Platen refused the file (413). Raise its limit (nginx: client_max_body_size).' }
    return "a proxy in front of Platen, or another service, answered $($Answer.Status)."
}

### The upload

function Send-Driver {
    # Zips and uploads a driver's package. Returns what Platen did with it.
    param($Driver)
    $folder = [IO.Path]::Combine([IO.Path]::GetTempPath(), "platen-$([guid]::NewGuid().ToString('N'))")
    $null = [IO.Directory]::CreateDirectory($folder)
    try {
        $inf = Get-PackageInf $Driver.Inf $folder
        $zip = [IO.Path]::Combine($folder, 'driver.zip')
        Write-Step "Zipping $($Driver.Name)"
        Write-Zip ([IO.Path]::GetDirectoryName($inf)) $zip
        Write-Step "Uploading $($Driver.Name)"
        $fileName = "$([IO.Path]::GetFileNameWithoutExtension($inf)) $($Driver.Version)".Trim() -replace '[^A-Za-z0-9._-]', '-'
        return Send-Zip $zip "$fileName.zip"
    }
    finally {
        Clear-Step
        Remove-Item -LiteralPath $folder -Recurse -Force
    }
}

function Get-PackageInf {
    # The path of the INF in a folder with the whole package.
    param([string]$Inf, [string]$Folder)
    if (-not $Inf) { throw 'Windows does not say where its package is. Download the driver from the vendor.' }
    if ($Inf.Replace('/', '\') -match $StoredInf) {
        if ([IO.File]::Exists($Inf)) { return $Inf }
        throw "its package is not in the driver store: there is no $Inf. Download the driver from the vendor."
    }
    if ($Inf -notmatch '\Aoem[0-9]+\.inf\z') { throw "its package is not in the driver store: Windows names $Inf. Download the driver from the vendor." }
    $exported = [IO.Path]::Combine($Folder, 'package')
    $null = [IO.Directory]::CreateDirectory($exported)
    $code = Invoke-Export $Inf $exported
    if ($code -eq 5) { throw "Windows lets only administrators export $Inf. Run this script in an elevated PowerShell." }
    $found = @([IO.Directory]::GetFiles($exported) | Where-Object { $_ -like '*.inf' })
    if ($code -ne 0 -or $found.Count -eq 0) { throw "pnputil.exe did not export $Inf (exit code $code)." }
    return $found[0]
}

function Invoke-Export {
    # Returns the exit code of pnputil. Windows translates its output.
    param([string]$Inf, [string]$Folder)
    $ErrorActionPreference = 'Continue'
    $output = & "$env:windir\System32\pnputil.exe" /export-driver $Inf $Folder 2>&1
    $code = $LASTEXITCODE
    Write-Log "pnputil answered $code`: $($output | Out-String)"
    return $code
}

function Write-Zip {
    # The names in order and the same time for all, so that a package becomes the same ZIP on every PC.
    param([string]$Folder, [string]$Path)
    $files = [string[]]@([IO.Directory]::GetFiles($Folder, '*', 'AllDirectories') | Where-Object { $_ -notlike '*.pnf' })
    [Array]::Sort($files, [StringComparer]::OrdinalIgnoreCase)
    $zip = [IO.Compression.ZipArchive]::new([IO.File]::Create($Path), [IO.Compression.ZipArchiveMode]::Create)
    try {
        foreach ($file in $files) {
            $entry = $zip.CreateEntry($file.Substring($Folder.Length + 1).Replace('\', '/'), [IO.Compression.CompressionLevel]::Optimal)
            $entry.LastWriteTime = [DateTimeOffset]::new(1980, 1, 1, 0, 0, 0, [TimeSpan]::Zero)
            $source = [IO.File]::OpenRead($file)
            try {
                $target = $entry.Open()
                try { $source.CopyTo($target) }
                finally { $target.Dispose() }
            }
            finally { $source.Dispose() }
        }
    }
    # Also closes the file.
    finally { $zip.Dispose() }
}

function Send-Zip {
    param([string]$Zip, [string]$FileName)
    $answer = Send-ToPlaten 'POST' '/drivers/upload' {
        $form = [Net.Http.MultipartFormDataContent]::new()
        $form.Add([Net.Http.StreamContent]::new([IO.File]::OpenRead($Zip)), 'file', $FileName)
        # A form is a list of its parts, and PowerShell would return these.
        return , $form
    }
    if ($answer.Status -ne 200 -or -not $answer.Location) { throw (Get-RefusalText $answer) }
    $page = [Uri]::new([Uri]$script:Service, $answer.Location).AbsoluteUri
    if ($answer.Text -match 'exists already') { return "is already in Platen: $page" }
    return "was uploaded: $page"
}

function Invoke-Upload {
    if (-not (Get-Command -Name 'Get-PrinterDriver' -ErrorAction SilentlyContinue)) { throw 'This script needs Windows 8, Server 2012 or later.' }
    if ($Name -and $All) { throw 'Use -Name or -All, not both.' }
    # A 32-bit process on a 64-bit PC sees no printer drivers. An x64 process on ARM64 has no Sysnative, and needs none.
    if ($env:PROCESSOR_ARCHITEW6432 -and (Test-Path -LiteralPath "$env:windir\Sysnative\WindowsPowerShell\v1.0\powershell.exe")) { throw 'This is a 32-bit PowerShell. Run the script in the 64-bit one.' }
    if (-not $WhatIfPreference) { $script:Service = Get-ServiceUrl; Test-Token }
    # Several drivers may have one package.
    $packages = [ordered]@{}
    foreach ($driver in @(Select-Driver)) {
        if ($WhatIfPreference) { Write-Line (Get-DriverText $driver) }
        $packages[$driver.Inf] = @($packages[$driver.Inf] | Where-Object { $_ }) + $driver
    }
    if ($WhatIfPreference) { $script:ExitCode = 0; return }
    Open-Http
    Connect-Platen
    $failed = 0
    foreach ($drivers in $packages.Values) {
        $names = Get-FirstText @($drivers | ForEach-Object { $_.Name })
        try { Write-Line "$names $(Send-Driver $drivers[0])" }
        catch { $failed++; Write-Line "$names was not uploaded: $_" }
    }
    if ($failed -eq 0) { $script:ExitCode = 0 }
    elseif ($failed -lt $packages.Count) { $script:ExitCode = 2 }
}

$script:IsJson = $false
$script:Service = ''
$script:ExitCode = 1
try {
    if ($PSVersionTable.PSVersion.Major -lt 6) { Add-Type -AssemblyName 'System.IO.Compression' }
    Invoke-Upload
}
catch { Write-Line "Failed: $_" }
finally { Close-Http }
exit $script:ExitCode
