#<if package>
#region The driver package, into Windows' driver store

#<if many|alone>
# The packages that this run has staged, by their keys.
$script:Staged = @{}

#</if>
function Add-DriverPackage {
    # Stages a package, once a run.
    param($Driver)
    #<if many|alone>
    if ($script:Staged[$Driver.Key]) { return }
    #</if>
    $folder = Get-DriverFolder $Driver
    #<if publisher>
    if ($Driver.TrustPublisher) { Import-Publisher $Driver $folder }
    #</if>
    $result = Invoke-PnpUtil "$folder\$($Driver.Inf)"
    Write-Log "pnputil answered $($result.Code): $($result.Text)"
    $code = $result.Code
    if ($code -eq $ExitBusy) { Stop-Run 'Windows is busy with another installation. Try again later.' $ExitBusy }
    if ($code -in $ExitRestartNeeded, $ExitRestarting) {
        if ($script:RebootCode -ne $ExitRestarting) { $script:RebootCode = $code }
    }
    elseif ($code -notin $ExitDone, 259) {
        $why = @{
            2           = "its INF is not there: $($Driver.Inf)"
            5           = 'the rights are not enough'
            -536870353  = 'the package has no catalog (0xE000022F)'
            -2146762487 = 'its signature ends at a root that is not trusted (0x800B0109)'
            -536870334  = 'its publisher is not trusted (0xE0000242); allow "trust publisher" for this driver'
            -2146762496 = 'it is not signed (0x800B0100)'
            -2146762495 = 'its signature has expired (0x800B0101)'
        }[[int]$code]
        if (-not $why) { $why = 'see the log' }
        Stop-Run "Windows refused the driver package (pnputil $code): $why."
    }
    #<if many|alone>
    $script:Staged[$Driver.Key] = $true
    #</if>
    Write-Change "driver package $($Driver.Inf) $($Driver.Version) staged"
}

function Invoke-PnpUtil {
    # Its exit code and its text, which is translated and only for the log.
    param([string]$InfPath)
    $ErrorActionPreference = 'Continue'
    $output = & "$env:windir\System32\pnputil.exe" /add-driver $InfPath /install 2>&1
    return @{ Code = $LASTEXITCODE; Text = ($output | Out-String) }
}

#endregion
#</if>
