### The log
# Control characters, and those that change the direction of text, except two joiners, which words and emoji contain.
$Unprintable = '[\s\p{Cc}\p{Cf}-[\u200c\u200d]]+'
$script:Log = ''
$script:Changes = 0

function Open-Log {
    # In Intune's log folder, which its portal collects, else in the Windows folder. A folder of our own in ProgramData
    # could be a link that a user made first. A log over 1 MB is renamed.
    param([string]$Path, [string]$Title)
    $folder = "$env:windir\Logs\Platen"
    $service = 'HKLM:\SYSTEM\CurrentControlSet\Services\IntuneManagementExtension'
    if (Test-Path -LiteralPath $service) { $folder = "$env:ProgramData\Microsoft\IntuneManagementExtension\Logs" }
    if (-not $Path) { $Path = "$folder\$($Settings.LogName).log" }
    try {
        $folder = Split-Path -Path $Path -Parent
        if ($folder) { $null = New-Item -ItemType Directory -Path $folder -Force -WhatIf:$false }
        if ((Test-Path -LiteralPath $Path) -and (Get-Item -LiteralPath $Path).Length -gt 1048576) { [IO.File]::Delete("$Path.old"); [IO.File]::Move($Path, "$Path.old") }
        $script:Log = $Path
    }
    catch { Write-Verbose "No log: $($_.Exception.Message)" }
    Write-Log "$Title starts: PowerShell $($PSVersionTable.PSVersion), $([IntPtr]::Size * 8)-bit, user $env:USERNAME"
}

function Write-Log {
    # To the log file and to -Verbose. Never pass a secret. A log that cannot be written does not stop the run.
    param([string]$Message)
    $Message = $Message -replace $Unprintable, ' '
    Write-Verbose $Message
    if (-not $script:Log) { return }
    $time = [datetime]::Now.ToString('yyyy-MM-dd HH:mm:ss', [Globalization.CultureInfo]::InvariantCulture)
    try { Add-Content -LiteralPath $script:Log -Value "$time [$PID] $Message" -Encoding UTF8 -WhatIf:$false }
    catch { $script:Log = '' }
}

#<if install|uninstall>
function Write-Change {
    # Logs a change and counts it.
    param([string]$Message)
    $script:Changes++
    Write-Log "Changed: $Message"
}
#</if>
