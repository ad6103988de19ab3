/* For libfdt's headers, which include this and use nothing of it. */
