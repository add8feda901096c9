# Runs publish scripts. Each request is a line of JSON: Script (a path), Parameters, Folder (for temporary files and the
# log). One process serves a whole test file. The answer is a line with ANSWER and JSON: Code, Output, Errors, Log, and
# Left (files that remain). PowerShell's own messages to the user ("What if:") come before it.
$ErrorActionPreference = 'Stop'
[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)
[Console]::InputEncoding = [Text.UTF8Encoding]::new($false)
$ProgressPreference = 'SilentlyContinue'

function ConvertTo-Parameters {
    param($Object)
    $table = @{}
    foreach ($property in $Object.PSObject.Properties) { $table[$property.Name] = $property.Value }
    return $table
}

while ($null -ne ($line = [Console]::In.ReadLine())) {
    $request = ConvertFrom-Json $line
    $env:TMPDIR = $request.Folder
    $parameters = ConvertTo-Parameters $request.Parameters
    $log = [IO.Path]::Combine($request.Folder, 'publish.log')
    $global:LASTEXITCODE = -1
    $output = @()
    $errors = @()
    try {
        foreach ($item in @(& $request.Script @parameters -LogPath $log *>&1)) {
            if ($item -is [Management.Automation.ErrorRecord]) { $errors += "$item" } else { $output += "$item" }
        }
    }
    catch {
        $errors += "$_ $($_.ScriptStackTrace)"
    }
    $text = ''
    if ([IO.File]::Exists($log)) {
        $text = [IO.File]::ReadAllText($log)
        [IO.File]::Delete($log)
    }
    $left = @([IO.Directory]::GetFileSystemEntries($request.Folder) | ForEach-Object { [IO.Path]::GetFileName($_) } | Where-Object { $_ -like 'platen-*' })
    [Console]::Out.WriteLine('ANSWER ' + (ConvertTo-Json -Compress -Depth 4 -InputObject @{ Code = $global:LASTEXITCODE; Output = $output; Errors = $errors; Log = $text; Left = $left }))
}
