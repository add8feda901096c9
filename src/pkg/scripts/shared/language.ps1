# AppLocker, App Control and similar tools let a script run that they do not allow, but without most of PowerShell.
if ($ExecutionContext.SessionState.LanguageMode -ne 'FullLanguage') {
    $problem = "This PC restricts PowerShell ($($ExecutionContext.SessionState.LanguageMode)). Allow this script by path, hash or publisher."
    #<if install|uninstall>
    "Failed: $problem"
    exit 1603
    #</if>
    #<if detect>
    "Not installed: $problem"
    exit 1
    #</if>
    #<if diagnose>
    "bad  verdict: $problem"
    exit 1
    #</if>
    #<if requirement|publish>
    $problem
    exit 1
    #</if>
}
