<#
.SYNOPSIS
Signs the scripts of Platen's packages with a code-signing certificate of this PC.

.DESCRIPTION
Made by Platen. Run it on your own PC with Windows, with Windows PowerShell 5.1 or PowerShell 7. The script asks Platen for the
scripts without a signature, lists them, asks, signs each, and gives the signatures back. The key of the certificate stays on
this PC. Platen then puts the signatures into packages, downloads and detection rules. Run it again after changes.

Exit codes:
0  all scripts are signed
3  scripts are to be signed: -WhatIf listed them, or you declined
2  some scripts were not signed; the last lines say why
1  nothing was signed

.PARAMETER CertificateThumbprint
A certificate from the personal store of the user or the PC, also one on a smart card.

.PARAMETER CertificatePath
A PFX file with the certificate.

.PARAMETER CertificatePassword
The password of that file, as a SecureString.

.PARAMETER TimestampServer
The address of a time-stamp server. With a time stamp, signatures stay valid after the certificate has expired.

.PARAMETER Url
The address of Platen, if this script does not know it.

.PARAMETER Token
A token of Platen for signing scripts (page Tokens), as a SecureString. Only where Platen asks for a sign-in.

.PARAMETER AllowHttp
Also accepts an address of Platen without encryption. Only for a network that you trust.

.PARAMETER All
Signs all scripts again, also signed ones, for example with a new certificate.

.PARAMETER Remove
Deletes all signatures in Platen, for a shop that no longer signs. Needs no certificate. Where Platen asks for a sign-in, an
operator deletes them on the page Packages instead.

.PARAMETER Force
Signs or deletes without asking.

.PARAMETER LogPath
The log file. The default is in Platen\Logs in your local application data.

.EXAMPLE
.\sign.ps1 -CertificateThumbprint 0123456789ABCDEF0123456789ABCDEF01234567 -TimestampServer http://timestamp.digicert.com
Lists the scripts, asks, and signs them.

.EXAMPLE
.\sign.ps1 -CertificatePath .\signing.pfx -CertificatePassword (Read-Host -AsSecureString) -Token (Read-Host -AsSecureString)
Signs with a PFX file where Platen asks for a sign-in.
#>
[CmdletBinding(SupportsShouldProcess = $true)]
param(
    [ValidatePattern('^([A-Fa-f0-9]{40})?$')][string]$CertificateThumbprint = '',
    [string]$CertificatePath = '',
    # Without a type, because PowerShell's message about a wrong type would show the value.
    [object]$CertificatePassword = $null,
    [string]$TimestampServer = '',
    [string]$Url = '',
    [object]$Token = $null,
    [switch]$AllowHttp,
    [switch]$All,
    [switch]$Remove,
    [switch]$Force,
    [string]$LogPath = ''
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ConfirmPreference = 'High'

#<settings>
$Settings = @{}
#</settings>

#<parts>
#</parts>

### The work

function Test-Parameters {
    if ($Remove) { return }
    if (-not $CertificateThumbprint -and -not $CertificatePath) { throw "Use -CertificateThumbprint or -CertificatePath. $(Get-CertificateText)" }
    if ($CertificateThumbprint -and $CertificatePath) { throw 'Use -CertificateThumbprint or -CertificatePath, not both.' }
    foreach ($value in @{ CertificatePassword = $CertificatePassword; Token = $Token }.GetEnumerator()) {
        if ($null -ne $value.Value -and $value.Value -isnot [Security.SecureString]) { throw "-$($value.Key) takes a SecureString: (Read-Host -AsSecureString)." }
    }
    if ($TimestampServer -and $TimestampServer -notmatch '\Ahttps?://[!-~]+\z') { throw '-TimestampServer takes an address that begins with http:// or https://.' }
}

function Get-ServiceUrl {
    $address = @($Url, $Settings.Url | Where-Object { $_ })[0]
    if (-not $address) { throw 'This script does not know the address of Platen. Use -Url.' }
    if (Test-SafeUrl $address) { return $address.TrimEnd('/') }
    if ($address -notmatch '\Ahttp://') { throw '-Url takes an address that begins with https://.' }
    # Over HTTP, another machine on the way could have its own script signed, and would see the token.
    if (-not $AllowHttp -or $null -ne $Token) { throw "$address is not encrypted: another machine could have its own scripts signed. Use -Url with https, or -AllowHttp in a network that you trust." }
    return $address.TrimEnd('/')
}

function Send-ToPlaten {
    param([string]$Method, [string]$Path, $Body, [string]$Doing, [int[]]$Allow = @())
    $headers = @{ Accept = 'application/json, text/plain;q=0.9' }
    if ($null -ne $Token) { $headers.Authorization = "Bearer $([Net.NetworkCredential]::new('', $Token).Password)" }
    $answer = Send-Request $Method "$(Get-ServiceUrl)$Path" $headers $Body
    Write-Log "$Method $Path -> $($answer.Status) $($answer.Problem)"
    if (($answer.Status -ge 200 -and $answer.Status -lt 300) -or $Allow -contains $answer.Status) { return $answer }
    if (-not $answer.Status) { throw "Platen did not answer ($Doing): $($answer.Problem)" }
    $remedy = 'Use -Token with a token for signing scripts (page Tokens).'
    if ($Method -eq 'DELETE') { $remedy = 'An operator deletes them on the page Packages.' }
    if ($answer.Status -in 401, 403) { throw "Platen refused to $Doing ($($answer.Status)). $remedy" }
    throw "Platen did not $Doing`: $($answer.Status) $(($answer.Text -replace $Unprintable, ' ').Trim())"
}

function Get-CertificateText {
    # The certificates for signing code of this user and PC.
    $found = @(Get-StoredCertificate | Where-Object { $_.HasPrivateKey -and (Test-CodeSigning $_) } | ForEach-Object { "$($_.Thumbprint) ($($_.Subject))" })
    if ($found.Count -eq 0) { return 'This PC has no certificate for signing code in its personal stores.' }
    return "This PC has: $(@($found | Select-Object -Unique) -join '; ')."
}

function Test-CodeSigning {
    param($Certificate)
    $usage = @($Certificate.Extensions | Where-Object { $_.Oid.Value -eq '2.5.29.37' })[0]
    return ($null -ne $usage -and @($usage.EnhancedKeyUsages | Where-Object { $_.Value -eq '1.3.6.1.5.5.7.3.3' }).Count -gt 0)
}

function Get-Script {
    # The scripts to sign: those without a signature, or all.
    param([string]$Path)
    $answer = Send-ToPlaten 'GET' $Path $null 'list the scripts'
    # 5.1 returns a list as one object.
    $list = ConvertFrom-Json -InputObject $answer.Text
    foreach ($script in $list) {
        if ($null -eq $script -or [string]$script.digest -notmatch '\A[0-9a-f]{64}\z') { throw 'Platen answered without a list of scripts.' }
        $script
    }
}

function Save-Signature {
    # Signs one script. Returns whether Platen keeps the signature. It does not when the record has changed meanwhile.
    param($Script, $Certificate, [string]$Folder)
    $answer = Send-ToPlaten 'GET' "/signatures/$($Script.digest)" $null 'give the script' @(404)
    if ($answer.Status -eq 404) { return $false }
    $bytes = [Text.Encoding]::UTF8.GetBytes($answer.Text)
    $sha = [Security.Cryptography.SHA256]::Create()
    try { $digest = [BitConverter]::ToString($sha.ComputeHash($bytes)).Replace('-', '').ToLowerInvariant() }
    finally { $sha.Dispose() }
    if ($digest -ne $Script.digest) { throw 'The script arrived changed.' }
    $path = [IO.Path]::Combine($Folder, "$digest.ps1")
    [IO.File]::WriteAllBytes($path, $bytes)
    $how = @{ FilePath = $path; Certificate = $Certificate; HashAlgorithm = 'SHA256'; IncludeChain = 'NotRoot' }
    if ($TimestampServer) { $how.TimestampServer = $TimestampServer }
    $signature = Set-AuthenticodeSignature @how
    if ($null -eq $signature.SignerCertificate) { throw "It could not be signed: $($signature.StatusMessage)" }
    if ($TimestampServer -and $null -eq $signature.TimeStamperCertificate) { throw "There is no time stamp of $TimestampServer`: $($signature.StatusMessage)" }
    if ([string]$signature.Status -ne 'Valid') { $script:Untrusted = [string]$signature.StatusMessage }
    $signed = New-HttpBody ([IO.File]::ReadAllBytes($path)) 'application/octet-stream'
    [IO.File]::Delete($path)
    return (Send-ToPlaten 'POST' "/signatures/$digest" $signed 'take the signature' @(404, 409)).Status -eq 204
}

function Remove-Signatures {
    $what = 'all signatures in Platen'
    if (-not $script:Run.ShouldProcess($what, 'Delete') -or (-not $Force -and -not (Read-Consent "Delete ${what}?" 'Delete'))) {
        $script:ExitCode = 3
        return Write-Line 'Nothing was deleted.'
    }
    $null = Send-ToPlaten 'DELETE' '/signatures' $null 'delete the signatures'
    $script:ExitCode = 0
    Write-Line 'The signatures are deleted. Packages and downloads contain none from now on.'
}

function Invoke-Signing {
    Test-Parameters
    if ($Remove) { return Remove-Signatures }
    if ($null -eq (Get-Command -Name 'Set-AuthenticodeSignature' -ErrorAction SilentlyContinue)) { throw 'Only Windows can sign scripts. Run this script there.' }
    $path = '/signatures'
    if ($All) { $path = '/signatures?all=1' }
    $scripts = @(Get-Script $path)
    if ($scripts.Count -eq 0) { $script:ExitCode = 0; return Write-Line 'All scripts are signed.' }
    $what = 'without a signature'
    if ($All) { $what = 'in packages' }
    Write-Line "$(Get-CountText $scripts.Count 'script') ${what}:"
    foreach ($each in $scripts) { Write-Line "  $($each.name)  $($each.digest.Substring(0, 12))" }
    if (-not $script:Run.ShouldProcess((Get-CountText $scripts.Count 'script'), 'Sign')) { $script:ExitCode = 3; return }
    if (-not $Force -and -not (Read-Consent "Sign $(Get-CountText $scripts.Count 'script')? They run as SYSTEM on PCs." 'Sign')) { $script:ExitCode = 3; return Write-Line 'Nothing was signed.' }
    $certificate = Open-Certificate
    $folder = [IO.Path]::Combine([IO.Path]::GetTempPath(), "platen-$([guid]::NewGuid().ToString('N'))")
    $null = [IO.Directory]::CreateDirectory($folder)
    try { Save-All $scripts $certificate $folder }
    finally {
        $certificate.Dispose()
        [IO.Directory]::Delete($folder, $true)
    }
}

function Save-All {
    param($Scripts, $Certificate, [string]$Folder)
    $signed, $failed, $tried = 0, 0, @{}
    foreach ($each in $Scripts) {
        $tried[$each.digest] = $true
        Write-Step "Signing $($tried.Count) of $($Scripts.Count): $($each.name)" ([int](100 * $tried.Count / $Scripts.Count))
        try { if (Save-Signature $each $Certificate $Folder) { $signed++ } }
        catch {
            $failed++
            Write-Line "$($each.name) was not signed: $_"
            if ($failed -ge 10 -and $signed -eq 0) { Write-Line 'Stopped after ten failures.'; break }
        }
    }
    Clear-Step
    Write-Line "Signed by $($Certificate.Subject): $(Get-CountText $signed 'script')."
    if ($script:Untrusted) { Write-Line "This PC does not trust the certificate: $script:Untrusted" }
    $left = @(Get-Script '/signatures').Count
    if ($left -gt $failed + $Scripts.Count - $tried.Count) { Write-Line "Records have changed meanwhile. Run the script again." }
    $script:ExitCode = 0
    if ($failed + $left -gt 0) { $script:ExitCode = 2 }
    if ($signed -eq 0 -and $failed -gt 0) { $script:ExitCode = 1 }
}

function Open-Certificate {
    # The caller disposes it.
    if ($CertificateThumbprint) { $certificate = Find-Certificate $CertificateThumbprint }
    else { $certificate = Read-Certificate 'DefaultKeySet' }
    if (-not $certificate.HasPrivateKey) { throw "The certificate '$($certificate.Subject)' is here without its private key." }
    if (-not (Test-CodeSigning $certificate)) { throw "The certificate '$($certificate.Subject)' is not for signing code." }
    return $certificate
}

$script:Run = $PSCmdlet
$script:IsJson = $false
$script:ExitCode = 1
$script:Untrusted = ''
try {
    Open-Log (Get-LogPath $LogPath) 'sign.ps1'
    Open-Http
    Invoke-Signing
}
catch { Write-Line "Failed: $_" }
finally {
    Close-Http
    Write-Log "Ends with exit code $script:ExitCode"
}
exit $script:ExitCode
