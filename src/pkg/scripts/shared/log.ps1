#region The log

# The two joiners are part of words and of emoji.
$Unprintable = '[\s\p{Cc}\p{Cf}-[\u200c\u200d]]+'
$script:Log = $null
$script:Changes = 0

function Open-Log {
    # Beside Intune's own logs, which its portal collects, where its service is; else in Windows' folder. In ProgramData
    # any user could have made the folder, as a link to where SYSTEM alone writes. Over 1 MB a new one is begun.
    param([string]$Path, [string]$Title)
    try {
        if (-not $Path) {
            $folder = "$env:windir\Logs\Platen"
            if (Test-Path -LiteralPath 'HKLM:\SYSTEM\CurrentControlSet\Services\IntuneManagementExtension') {
                $folder = "$env:ProgramData\Microsoft\IntuneManagementExtension\Logs"
            }
            $Path = "$folder\$($Settings.LogName).log"
        }
        $folder = Split-Path -Path $Path -Parent
        if ($folder) { $null = New-Item -ItemType Directory -Path $folder -Force -WhatIf:$false }
        if ((Test-Path -LiteralPath $Path) -and (Get-Item -LiteralPath $Path).Length -gt 1048576) {
            [IO.File]::Delete("$Path.old")
            [IO.File]::Move($Path, "$Path.old")
        }
        $script:Log = $Path
    }
    catch {
        Write-Verbose "No log: $($_.Exception.Message)"
    }
    Write-Log "$Title starts: PowerShell $($PSVersionTable.PSVersion), $([IntPtr]::Size * 8)-bit, user $env:USERNAME"
}

function Write-Log {
    # A line for the log file and for -Verbose. Never pass a secret. A log that cannot be written stops no run. Devices
    # and users choose names: what could begin a line, move a cursor or turn the order of letters becomes a blank.
    param([string]$Message)
    $Message = $Message -replace $Unprintable, ' '
    Write-Verbose $Message
    if (-not $script:Log) { return }
    try {
        $line = '{0:yyyy-MM-dd HH:mm:ss} [{1}] {2}' -f (Get-Date), $PID, $Message
        Add-Content -LiteralPath $script:Log -Value $line -Encoding UTF8 -WhatIf:$false
    }
    catch {
        $script:Log = $null
    }
}

#<if install|uninstall>
function Write-Change {
    param([string]$Message)
    $script:Changes++
    Write-Log "Changed: $Message"
}
#</if>

#endregion
