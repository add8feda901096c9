#<if package>
#<if many|alone|exact>
# The keys of the packages that this run has staged.
$script:Staged = @{}

#</if>
function Add-DriverPackage {
    # Stages the package with pnputil.
    param($Driver)
    #<if many|alone|exact>
    if ($script:Staged[$Driver.Key]) { return }
    #</if>
    $folder = Get-DriverFolder $Driver
    #<if publisher>
    if ($Driver.TrustPublisher) { Import-Publisher $Driver $folder }
    #</if>
    $result = Invoke-PnpUtil "$folder\$($Driver.Inf)"
    Write-Log "pnputil answered $($result.Code): $($result.Text)"
    if ($result.Code -eq $ExitBusy) { Stop-Run 'Windows is busy with another installation. Try again later.' $ExitBusy }
    if ($result.Code -in $ExitRestartNeeded, $ExitRestarting) {
        if ($script:RebootCode -ne $ExitRestarting) { $script:RebootCode = $result.Code }
    }
    # 259: Windows has no device for this driver, as usual for printers in the network.
    elseif ($result.Code -notin $ExitDone, 259) {
        $why = @{
            2           = "its INF is not there: $($Driver.Inf)"
            5           = 'the rights are not enough'
            -536870353  = 'the package has no catalog (0xE000022F)'
            -536870335  = 'Windows would have to ask whether to trust its signer (0xE0000241); allow "trust publisher" for this driver'
            -536870334  = 'its publisher is not trusted (0xE0000242); allow "trust publisher" for this driver'
            -536870333  = 'the trust in its publisher is not established (0xE0000243); allow "trust publisher" for this driver'
            -536870328  = 'a policy forbids installing devices (0xE0000248); allow printers in "Device Installation Restrictions"'
            -536870325  = 'a file is not the one in the catalog (0xE000024B): the ZIP was changed; upload the ZIP of the vendor'
            -2146762487 = 'its signature ends at a root that is not trusted (0x800B0109)'
            -2146762496 = 'it is not signed (0x800B0100)'
            -2146762495 = 'its signature has expired (0x800B0101)'
        }[[int]$result.Code]
        if (-not $why) { $why = 'see the log' }
        Stop-Run "Windows refused the driver package (pnputil $($result.Code)): $why."
    }
    #<if many|alone|exact>
    $script:Staged[$Driver.Key] = $true
    #</if>
    Write-Change "driver package $($Driver.Inf) $($Driver.Version) staged"
}

function Invoke-PnpUtil {
    # The exit code, and the text for the log, which Windows translates.
    param([string]$InfPath)
    $ErrorActionPreference = 'Continue'
    $output = & "$env:windir\System32\pnputil.exe" /add-driver $InfPath /install 2>&1
    return @{ Code = $LASTEXITCODE; Text = ($output | Out-String) }
}
#</if>
