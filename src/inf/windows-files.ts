/**
 * Files that Windows brings for printer drivers, in lower case: those that `ntprint.inf` of Windows 10 and 11 lists, and
 * of earlier versions those for text printers, plotters, XPS and colours. The package of an INF with a LayoutFile need not
 * have them.
 */
const windowsFiles = new Set(
  `
  unidrv.dll unidrv.hlp unidrvui.dll unires.dll stdnames.gpd stddtype.gdl stdschem.gdl stdschmx.gdl
  pscript5.dll ps5ui.dll pscript.hlp pscript.ntf pscrptfe.ntf ps_schm.gdl
  pclxl.dll pclxl.gpd pcl4res.dll pcl5eres.dll pcl5ures.dll p6disp.gpd p6font.gpd pjl.gpd pjlmon.dll
  locale.gpd ttfsub.gpd msxpsinc.gpd msxpsinc.ppd mxdwdrv.dll mxdwdui.dll mxdwdui.gpd
  filterpipelineprintproc.dll printfilterpipelineprxy.dll xpssvcs.dll printconfig.dll winprint.dll
  tty.dll tty.gpd tty.ini ttyres.dll ttysub.gpd ttyui.dll ttyui.hlp
  plotter.dll plotter.hlp plotui.dll usbmon.dll usbprint.sys
  `
    .trim()
    .split(/\s+/),
).add("srgb color space profile.icm");

/** Whether Windows has a printer driver's file of this name. */
export function comesWithWindows(name: string): boolean {
  return windowsFiles.has(name.toLowerCase());
}
