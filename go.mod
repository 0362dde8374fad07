module github.com/sfwalk/sfwalk

go 1.26
