#<if package>
#region The driver package, into Windows' driver store

# The packages that this run has staged, by their keys.
$script:Staged = @{}

function Add-DriverPackage {
    # Stages a package, once a run.
    param($Driver)
    if ($script:Staged.ContainsKey($Driver.Key)) { return }
    $folder = Get-DriverFolder -Driver $Driver
    #<if publisher>
    if ($Driver.TrustPublisher) { Import-Publisher -Driver $Driver -Folder $folder }
    #</if>
    $result = Invoke-PnpUtil -InfPath "$folder\$($Driver.Inf)"
    Write-Log -Message "pnputil answered $($result.Code): $($result.Text)"
    switch ($result.Code) {
        $script:ExitDone { break }
        259 { break }
        $script:ExitRestartNeeded {
            if ($script:RebootCode -eq $script:ExitDone) { $script:RebootCode = $script:ExitRestartNeeded }
            break
        }
        $script:ExitRestarting { $script:RebootCode = $script:ExitRestarting; break }
        $script:ExitBusy { Stop-Run -Code $script:ExitBusy -Message 'Windows is busy with another installation. Try again later.' }
        5 { Stop-Run -Message 'Windows refused the driver package (5): the rights are not enough.' }
        2 { Stop-Run -Message "Windows did not find the driver's INF (2): $($Driver.Inf)." }
        default {
            $why = @{
                -536870353  = 'the package has no catalog (0xE000022F)'
                -2146762487 = 'its signature ends at a root that is not trusted (0x800B0109)'
                -536870334  = 'its publisher is not trusted (0xE0000242); allow "trust publisher" for this driver'
                -2146762496 = 'it is not signed (0x800B0100)'
                -2146762495 = 'its signature has expired (0x800B0101)'
            }[[int]$result.Code]
            if (-not $why) { $why = 'see the log' }
            Stop-Run -Message "Windows refused the driver package (pnputil $($result.Code)): $why."
        }
    }
    $script:Staged[$Driver.Key] = $true
    Write-Change -Message "driver package $($Driver.Inf) $($Driver.Version) staged"
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
