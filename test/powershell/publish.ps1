# Runs publish scripts. Each request is a line of JSON: Script (a path), Parameters, Environment (variables for this run),
# Folder (for temporary files and the log). A parameter may be { Secure: text } or { Block: script }. Before is a block that
# runs before the script. The answer is a line with ANSWER and JSON: Code, Output, Rows (the objects of -PassThru), Errors,
# Noted (the texts in $Error), Log, and Left (files that remain). PowerShell's own messages to the user ("What if:") come before it.
$ErrorActionPreference = 'Stop'
[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)
[Console]::InputEncoding = [Text.UTF8Encoding]::new($false)
$ProgressPreference = 'SilentlyContinue'

function ConvertTo-Parameters {
    param($Object)
    $table = @{}
    foreach ($property in $Object.PSObject.Properties) {
        $value = $property.Value
        if ($value -is [Management.Automation.PSCustomObject] -and $value.PSObject.Properties['Secure']) { $value = ConvertTo-SecureString -AsPlainText -Force -String $value.Secure }
        elseif ($value -is [Management.Automation.PSCustomObject] -and $value.PSObject.Properties['Block']) { $value = [scriptblock]::Create($value.Block) }
        $table[$property.Name] = $value
    }
    return $table
}

function Set-GraphSession {
    # Stands for the module Microsoft.Graph.Authentication with a session that has this token.
    param([string]$Token)
    ${function:global:Get-MgContext} = { return [pscustomobject]@{ Account = 'anna@contoso.example' } }
    $global:SessionToken = $Token
    ${function:global:Invoke-MgGraphRequest} = {
        param([string]$Method, [uri]$Uri, [string]$OutputType, [switch]$SkipHttpErrorCheck)
        if ($OutputType -ne 'HttpResponseMessage' -or -not $SkipHttpErrorCheck) { throw 'unexpected parameters' }
        $message = [Net.Http.HttpRequestMessage]::new([Net.Http.HttpMethod]::new($Method), $Uri)
        $message.Headers.Authorization = [Net.Http.Headers.AuthenticationHeaderValue]::new('Bearer', $global:SessionToken)
        return [Net.Http.HttpClient]::new().SendAsync($message).GetAwaiter().GetResult()
    }
}

while ($null -ne ($line = [Console]::In.ReadLine())) {
    $request = ConvertFrom-Json $line
    $env:TMPDIR = $request.Folder
    $parameters = ConvertTo-Parameters $request.Parameters
    foreach ($variable in $request.Environment.PSObject.Properties) { [Environment]::SetEnvironmentVariable($variable.Name, $variable.Value) }
    if ($parameters.ContainsKey('GraphSession')) { Set-GraphSession $parameters.GraphSession }
    if ($parameters.ContainsKey('Before')) { . $parameters.Before }
    $parameters.Remove('GraphSession')
    $parameters.Remove('Before')
    $Error.Clear()
    $log = [IO.Path]::Combine($request.Folder, 'publish.log')
    $global:LASTEXITCODE = -1
    $output = @()
    $rows = @()
    $errors = @()
    try {
        foreach ($item in @(& $request.Script @parameters -LogPath $log *>&1)) {
            if ($item -is [Management.Automation.ErrorRecord]) { $errors += "$item" }
            elseif ($item.PSObject.BaseObject -is [Management.Automation.PSCustomObject]) { $rows += $item }
            else { $output += "$item" }
        }
    }
    catch {
        $errors += "$_ $($_.ScriptStackTrace)"
    }
    foreach ($variable in $request.Environment.PSObject.Properties) { [Environment]::SetEnvironmentVariable($variable.Name, $null) }
    Remove-Item -Path 'Function:\Invoke-MgGraphRequest', 'Function:\Get-MgContext', 'Function:\Set-AuthenticodeSignature' -ErrorAction Ignore
    $noted = @($Error | ForEach-Object { Out-String -InputObject $_; Out-String -InputObject $_.Exception; Out-String -InputObject $_.InvocationInfo; $_.ScriptStackTrace }) -join "`n"
    $text = ''
    if ([IO.File]::Exists($log)) {
        $text = [IO.File]::ReadAllText($log)
        [IO.File]::Delete($log)
    }
    $left = @([IO.Directory]::GetFileSystemEntries($request.Folder) | ForEach-Object { [IO.Path]::GetFileName($_) } | Where-Object { $_ -like 'platen-*' })
    [Console]::Out.WriteLine('ANSWER ' + (ConvertTo-Json -Compress -Depth 4 -InputObject @{ Code = $global:LASTEXITCODE; Output = $output; Rows = $rows; Errors = $errors; Noted = $noted; Log = $text; Left = $left }))
}
