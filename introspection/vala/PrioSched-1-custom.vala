namespace PrioSched {
	[CCode (cname = "GSourceOnceFunc", cheader_filename = "glib.h")]
	public delegate void OnceFunc ();

	[CCode (cname = "PrioError", cprefix = "PRIO_ERROR_", lower_case_csuffix = "error", cheader_filename = "prio-sched.h", type_id = "prio_error_get_type ()")]
	public errordomain SchedulerError {
		NOT_ALLOWED,
		CLOSED,
		DROPPED;
		[CCode (cname = "prio_error_quark")]
		public static GLib.Quark quark ();
	}
}
