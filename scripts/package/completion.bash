# Completion of barecpc for bash: commands, their options, files.
_barecpc()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
	if [ "$COMP_CWORD" = 1 ]; then
		words=$(barecpc --help 2>/dev/null | sed -n 's/^  {\(.*\)}$/\1/p' | tr ',' ' ')
	elif [ "${word#-}" != "$word" ]; then
		words=$(barecpc "$command" --help 2>/dev/null | grep -oE -- '^  +(-[a-z], )?--?[a-z][a-z_-]*' | grep -oE -- '--?[a-z][a-z_-]*')
	else
		return
	fi
	# shellcheck disable=SC2207 # words have no blanks
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _barecpc barecpc
