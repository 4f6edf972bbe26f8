namespace PrioSched {
	[CCode (cname = "GSourceOnceFunc", cheader_filename = "glib.h")]
	public delegate void OnceFunc ();
}
